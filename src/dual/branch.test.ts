/** Branches: what was stays, the call's purpose is another, and the run goes on as if it had been so from the start. */
import { describe, expect, it } from "vitest";
import { type TraceEvent, traceEventSchema } from "../trace/events";
import { type Branch, turnsOf, withPurpose } from "./branch";
import { type ResearchOptions, research } from "./loop";
import { parseMessage } from "./parse";
import { SYSTEM1_INSTRUCTION } from "./prompts";
import { type Script, scriptedModel } from "./scriptedModel";
import { SEARCH_FUNCTION, searchTool } from "./tools/search";

const corpus = [
  { id: "vel", title: "Vel", text: "The river Vel is 90 miles long." },
  { id: "orn", title: "Orn", text: "The city of Orn lies on the river Vel." },
];
const call = (query: string, purpose: string) =>
  `<think>\nI look.\n</think>\n\n<tool_call>\n${JSON.stringify({ name: "search", arguments: { query, purpose } })}\n</tool_call>`;

/** Looks for the city, then for the river, then answers with what System 1 read for. */
const script: Script = (prompt) => {
  if (prompt.includes(SYSTEM1_INSTRUCTION)) return `for ${/Purpose: (.*)/.exec(prompt)?.[1]}`;
  const told = [...prompt.matchAll(/<tool>(.*)/g)].map(([, text]) => text);
  if (told.length === 0) return call("Orn", "its river");
  return told.length === 1 ? call("Vel", "its length") : told.join("; ");
};

async function run(options: Partial<ResearchOptions> = {}) {
  const model = scriptedModel(script);
  const events: TraceEvent[] = [];
  let clock = 0;
  const result = await research("How long?", {
    system2: model,
    tools: [searchTool(corpus)],
    corpus: "rivers",
    capacity: 200,
    now: () => ++clock,
    onEvent: (event) => events.push(event),
    ...options,
  });
  for (const event of events) traceEventSchema.parse(event);
  return { model, events, result };
}

const withoutTimes = (events: readonly TraceEvent[]) =>
  events
    .filter(({ type }) => !type.endsWith("Token"))
    .map((event) => ({ ...event, at: 0, ms: 0, branch: 0, edited: 0 }));

describe("a branch", () => {
  it("keeps the turns before, and asks with the new purpose from there on", async () => {
    const first = await run();
    expect(first.result.answer).toBe("for its river; for its length");
    const { events, result, model } = await run({ branch: { events: first.events, turn: 2, purpose: "its source" } });
    expect(result.answer).toBe("for its river; for its source");
    expect(result.turns.map(({ call }) => call?.purpose)).toEqual(["its river", "its source", undefined]);
    expect(events[0]).toMatchObject({ type: "runStarted", branch: { turn: 2, purpose: "its source" } });
    const messages = events.filter((event) => event.type === "system2Message");
    expect(messages.map(({ edited, text }) => [edited, text])).toEqual([
      [undefined, call("Orn", "its river")],
      [true, call("Vel", "its source")],
      [undefined, "for its river; for its source"],
    ]);
    // Two generations: System 1 for the new purpose, and the turn after it.
    expect(model.batches).toHaveLength(2);
    const times = events.map(({ at }) => at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });

  it("with the old purpose ends in the same trace and ledger as the run itself", async () => {
    const first = await run();
    for (const turn of [1, 2]) {
      const purpose = ["its river", "its length"][turn - 1] as string;
      const { events, result } = await run({ branch: { events: first.events, turn, purpose } });
      expect(result.ledger).toEqual(first.result.ledger);
      expect(withoutTimes(events)).toEqual(withoutTimes(first.events));
      expect(turnsOf(events).map(({ ms, ...turn }) => turn)).toEqual(result.turns.map(({ ms, ...turn }) => turn));
    }
  });

  it("takes over failures and raw documents, and goes on with other settings", async () => {
    const first = await run({ useSystem1: false, tools: [searchTool([corpus[0]!])] });
    const [failed] = first.result.turns;
    expect(failed?.error).toContain("No document matches");
    const branched = await run({ useSystem1: true, branch: { events: first.events, turn: 2, purpose: "x" } });
    expect(branched.result.turns[0]).toEqual(failed);
    expect(branched.result.turns[1]).toMatchObject({ refined: "for x" });
  });

  it.each<[string, Partial<Branch>]>([
    ["the run calls no tool in turn 3", { turn: 3 }],
    ["the run calls no tool in turn 9", { turn: 9 }],
    ["the purpose of a branch is empty", { purpose: " " }],
  ])("is refused: %s", async (message, change) => {
    const { events } = await run();
    await expect(run({ branch: { events, turn: 1, purpose: "x", ...change } })).rejects.toThrow(
      new RangeError(message),
    );
  });
});

describe("withPurpose", () => {
  it.each([
    ["plain", 'it says "no" \\ and $& $1'],
    ["line ends", "one\ntwo"],
  ])("changes nothing else: %s", (_, purpose) => {
    const text = `<think>\n"purpose": "not this"\n</think>\n<tool_call>\n{"name": "search", "arguments": {"query": "a \\"purpose\\": \\"b\\"", "purpose" : "old \\"x\\""}}\n</tool_call>`;
    const { action, thought } = parseMessage(withPurpose(text, purpose), [SEARCH_FUNCTION]);
    expect(thought).toBe('"purpose": "not this"');
    expect(action).toMatchObject({ call: { arguments: { query: 'a "purpose": "b"' }, purpose } });
  });
});

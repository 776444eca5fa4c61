import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolFunction } from "../text/tokenizer";
import { parseMessage, splitThought } from "./parse";
import { SEARCH_FUNCTION } from "./tools/search";

const counter: ToolFunction = {
  name: "counter",
  description: "Counts.",
  parameters: {
    type: "object",
    properties: {
      times: { type: "integer", minimum: 1 },
      unit: { enum: ["days", "years"] },
      window: { type: "object", properties: { from: { type: "number" } } },
      purpose: { type: "string" },
    },
    required: ["times"],
    additionalProperties: false,
  },
};
const tools = [SEARCH_FUNCTION, counter];

const call = (body: unknown) => `<tool_call>\n${typeof body === "string" ? body : JSON.stringify(body)}\n</tool_call>`;
const search = (args: unknown) => call({ name: "search", arguments: args });
const good = { query: "river", purpose: "its length" };
const errorOf = (text: string, available = tools) => {
  const { action } = parseMessage(text, available);
  return action.type === "error" ? action.message : `no error but ${action.type}`;
};

describe("parseMessage", () => {
  it("reads a thought and a tool call", () => {
    expect(parseMessage(`<think>\nI need the river.\n</think>\n\n${search(good)}`, tools)).toEqual({
      thought: "I need the river.",
      action: { type: "toolCall", call: { name: "search", arguments: good, purpose: "its length" } },
    });
  });

  it("reads an answer bare, in tags, and in tags that were cut off", () => {
    const answer = (text: string) => parseMessage(text, tools).action;
    expect(answer("<think>\n\n</think>\n\nParis\n")).toEqual({ type: "answer", text: "Paris" });
    expect(answer("Paris")).toEqual({ type: "answer", text: "Paris" });
    expect(answer("So it is <answer> Paris </answer>, surely.")).toEqual({ type: "answer", text: "Paris" });
    expect(answer("<answer>Paris")).toEqual({ type: "answer", text: "Paris" });
  });

  it("takes a thought that the prompt opened, and one without tags before a call", () => {
    expect(parseMessage(`It flows.\n</think>\nOder`, tools)).toEqual({
      thought: "It flows.",
      action: { type: "answer", text: "Oder" },
    });
    expect(parseMessage(`<think>a</think>Let me look.\n${search(good)}`, tools)).toMatchObject({
      thought: "a\nLet me look.",
      action: { type: "toolCall" },
    });
  });

  it("does not take a call inside the thought for one", () => {
    const text = `<think>I could ${search(good)}</think>Oder`;
    expect(parseMessage(text, tools).action).toEqual({ type: "answer", text: "Oder" });
  });

  it("ignores text after the call, and keeps arguments that the schema leaves open", () => {
    const text = `${search({ ...good, lang: "de" })}\n<tool_response>made up</tool_response>`;
    expect(parseMessage(text, tools).action).toMatchObject({ call: { arguments: { ...good, lang: "de" } } });
  });

  it("trims the purpose", () => {
    expect(parseMessage(search({ query: "q", purpose: " why " }), tools).action).toMatchObject({
      call: { purpose: "why", arguments: { purpose: " why " } },
    });
  });

  it.each([
    ["an empty message", "", "the message is empty"],
    ["only a thought", "<think>hm</think>\n", "the message is empty"],
    ["empty answer tags", "<answer> </answer>", "the message is empty"],
    ["a thought cut off", "<think>I wonder", "the thought has no </think>"],
    ["a call cut off", '<tool_call>\n{"name": "search"', "<tool_call> is not closed"],
    ["a closing tag alone", '{"name": "search"}\n</tool_call>', "</tool_call> without <tool_call>"],
    ["two calls", `${search(good)}\n${search(good)}`, "the message holds 2 tool calls"],
    ["a call and an answer", `${search(good)}<answer>x</answer>`, "a tool call and an answer"],
    ["bad JSON", call('{"name": "search", "arguments": {'), "not valid JSON"],
    ["an empty call", call(""), "not valid JSON"],
    ["a list", call([1]), 'must be a JSON object with "name"'],
    ["null", call("null"), "must be a JSON object"],
    ["no name", call({ arguments: good }), 'no "name"'],
    ["a name of the wrong type", call({ name: 3, arguments: good }), 'no "name"'],
    ["an unknown tool", call({ name: "browse", arguments: good }), 'no tool "browse". Tools: search, counter.'],
    ["a tool named like an object's property", call({ name: "constructor", arguments: {} }), 'no tool "constructor"'],
    ["no arguments", call({ name: "search" }), 'search has no "arguments"'],
    ["arguments as text", call({ name: "search", arguments: JSON.stringify(good) }), 'search has no "arguments"'],
    ["arguments as a list", call({ name: "search", arguments: [] }), 'search has no "arguments"'],
    ["a missing argument", search({ purpose: "p" }), 'arguments of search: "query" is missing.'],
    ["two missing arguments", search({}), 'arguments of search: "query" is missing; "purpose" is missing.'],
    ["a mistyped argument", search({ query: 3, purpose: "p" }), '"query" must be a string'],
    ["null as an argument", search({ query: null, purpose: "p" }), '"query" must be a string'],
    ["an empty argument", search({ query: "", purpose: "p" }), '"query" is empty'],
    ["a missing purpose", search({ query: "q" }), 'arguments of search: "purpose" is missing.'],
    ["a mistyped purpose", search({ query: "q", purpose: ["p"] }), '"purpose" must be a string'],
    ["a blank purpose", search({ query: "q", purpose: "  \n" }), '"purpose" is empty'],
    [
      "a purpose missing that the schema does not ask for",
      call({ name: "counter", arguments: { times: 1 } }),
      'arguments of counter: "purpose" is missing.',
    ],
    [
      "an argument that the schema does not know",
      call({ name: "counter", arguments: { times: 1, purpose: "p", more: 1 } }),
      'arguments of counter: "more" is not an argument.',
    ],
    [
      "values out of range",
      call({ name: "counter", arguments: { times: 0.5, unit: "weeks", window: { from: "x" } } }),
      '"times" must be an integer; "unit": Invalid option: expected one of "days"|"years"; "window.from" must be a number',
    ],
  ])("answers %s with an error", (_name, text, message) => {
    expect(errorOf(text)).toContain(message);
    expect(errorOf(text)).toMatch(/^Error: /);
  });

  it("says when there are no tools", () => {
    expect(errorOf(search(good), [])).toContain("Tools: none");
  });

  it("never throws and always gives an action, whatever is written", () => {
    const pieces = fc.constantFrom(
      "<think>",
      "</think>",
      "<tool_call>",
      "</tool_call>",
      "<answer>",
      "</answer>",
      '{"name":"search","arguments":',
      '{"query":"q","purpose":"p"}',
      '{"__proto__":1,"purpose":{}}',
      "}",
      "\n",
      "text",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 12 }), (parts) => {
        const { action } = parseMessage(parts.join(""), tools);
        if (action.type === "answer") expect(action.text.trim()).not.toBe("");
        if (action.type === "toolCall") expect(action.call.purpose).not.toBe("");
        if (action.type === "error") expect(action.message.length).toBeGreaterThan(7);
      }),
      { numRuns: 500 },
    );
  });
});

describe("splitThought", () => {
  it("leaves a text without thought as it is, trimmed", () => {
    expect(splitThought(" [1] A quote. ")).toEqual({ thought: "", rest: "[1] A quote.", closed: true });
  });

  it("ends the thought at the first closing tag", () => {
    expect(splitThought("<think>a</think>b</think>c")).toEqual({ thought: "a", rest: "b</think>c", closed: true });
  });
});

/** `research`: one question through the dual-system loop. */
import { type ResearchResult, research } from "../../dual/loop";
import { standardTools } from "../../dual/tools/standard";
import type { Ledger } from "../../trace/events";
import type { World, WorldQuestion } from "../../world/types";
import { type CorpusId, makeWorld } from "../../world/world";
import { command } from "../command";
import { dualOptions, dualSettings, jsonFlag, MAX_SEED, samplingOptions } from "../modelOptions";
import { integer, text, UsageError } from "../options";
import { seconds, table } from "../table";

const DEFAULT_WORLD = 1;
/** A typed question that is one of this many of its world is graded. */
const KNOWN_QUESTIONS = 100;

export const researchCommand = command({
  name: "research",
  summary: "answers one question over a corpus, by two systems",
  examples: [
    "research --seed 7 --index 3",
    'research --question "Where was Mira Tolen born?" --seed 7 --json',
    "research --seed 7 --index 3 --no-system1",
  ],
  options: {
    question: text({ value: "Q", help: "the question, about the world of --seed" }),
    seed: integer({
      value: "S",
      min: 0,
      max: MAX_SEED,
      fallback: DEFAULT_WORLD,
      help: "of the world, and of sampling",
    }),
    index: integer({
      value: "I",
      min: 0,
      max: 99_999,
      help: "instead of --question: number of a question of the world",
    }),
    ...dualOptions,
    ...samplingOptions,
    json: jsonFlag,
  },
  async run(values, { out, models, python }) {
    const { seed, corpus } = values;
    const { world, question, gold } = pick(values.question, values.index, seed, corpus);
    const model = await (await models.find(values.model)).load();
    const result = await research(question, {
      system2: model,
      tools: standardTools(world.documents, python, values["search-results"]),
      corpus: `${corpus} ${seed}`,
      gold,
      ...dualSettings(values, seed),
    });
    if (result.reason === "error") throw result.error;
    const { turns, ledger, reason, correct } = result;
    const answer = result.answer ?? null;
    if (values.json) out(`${JSON.stringify({ question, answer, gold, correct, reason, turns, ledger })}\n`);
    else out(report(question, gold, result));
  },
});

interface Picked {
  world: World;
  question: string;
  gold: string[] | undefined;
}

function pick(typed: string | undefined, index: number | undefined, seed: number, corpus: CorpusId): Picked {
  if ((typed === undefined) === (index === undefined)) {
    throw new UsageError("give either --question or --index");
  }
  const world = makeWorld(seed, { corpus, questions: index === undefined ? KNOWN_QUESTIONS : index + 1 });
  if (index !== undefined) {
    const { text: question, gold } = world.questions[index] as WorldQuestion;
    return { world, question, gold };
  }
  const question = typed as string;
  return { world, question, gold: world.questions.find((known) => known.text === question)?.gold };
}

function report(question: string, gold: string[] | undefined, result: ResearchResult): string {
  const lines = [question, ""];
  for (const { turn, thought, call, documents, bins, refined, error, promptTokens, outputTokens, ms } of result.turns) {
    lines.push(`Turn ${turn}  (${promptTokens} tokens read, ${outputTokens} written, ${seconds(ms)})`);
    if (thought) lines.push(indent("thought", thought));
    if (call) {
      const { purpose, ...args } = call.arguments;
      lines.push(indent(call.name, Object.values(args).join(", ")), indent("purpose", String(purpose)));
    }
    if (documents) {
      const tokens = documents.reduce((sum, document) => sum + document.tokens, 0);
      lines.push(
        indent("found", `${documents.length} documents, ${tokens} tokens${bins ? `, ${bins.length} bins` : ""}`),
      );
    }
    if (refined !== undefined) lines.push(indent("reads", refined));
    if (error !== undefined) lines.push(indent("reads", error));
    lines.push("");
  }
  lines.push(indent("answer", result.answer ?? `none (${result.reason})`));
  if (gold) lines.push(indent("gold", `${gold[0]} (${result.correct ? "right" : "wrong"})`));
  return `${lines.join("\n")}\n\n${ledgerTable(result.ledger)}\n`;
}

function indent(label: string, body: string): string {
  return `  ${label.padEnd(8)} ${body.trimEnd().replaceAll("\n", "\n           ")}`;
}

export function ledgerTable(ledger: Ledger): string {
  return table(
    ["tokens", "count"],
    [
      ["documents read", ledger.rawTokens],
      [`System 1 in (${ledger.system1Calls} bins)`, ledger.system1PromptTokens],
      ["System 1 out", ledger.system1OutputTokens],
      ["System 2 out", ledger.system2OutputTokens],
      ["System 2 context", ledger.system2ContextTokens],
      ["  without System 1", ledger.system2ContextWithoutSystem1],
    ],
  );
}

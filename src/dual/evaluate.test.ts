/** What an evaluation says of System 1: a reader that makes one mistake of each kind is found out. */
import { expect, test } from "vitest";
import { purposeOf } from "../world/questions";
import { makeDetailedWorld } from "../world/world";
import { evaluateDual } from "./evaluate";
import { NOTHING_RELEVANT } from "./prompts";
import { scriptedModel } from "./scriptedModel";
import { searchTool } from "./tools/search";

const world = makeDetailedWorld(11, { questions: 60 });
const questions = world.questions.filter(({ hops, kind }) => hops === 1 && kind === "lookup").slice(0, 8);
const steps = questions.map(({ chain }) => chain[0]!);

/** A faultless pair of systems, but for the bins that `fault` names by the question and whether they hold the fact. */
function researcher(fault: (question: number, holds: boolean) => string | undefined) {
  return scriptedModel((prompt) => {
    const asked = steps.findIndex(({ relation, subject }) =>
      prompt.includes(`Purpose: ${purposeOf(relation, subject)}`),
    );
    if (asked >= 0) {
      const { relation, subject } = steps[asked]!;
      const article = world.articles[world.entities.findIndex(({ name }) => name === subject)]!;
      const holds = prompt.includes(article.text);
      return fault(asked, holds) ?? (holds ? `- ${article.statements.get(relation)}` : `- ${NOTHING_RELEVANT}`);
    }
    const question = questions.findIndex(({ text }) => prompt.includes(text));
    if (prompt.includes("<tool>")) return ` ${questions[question]!.gold[0]}`;
    const { relation, subject } = steps[question]!;
    const args = { query: subject, purpose: purposeOf(relation, subject) };
    return `<tool_call>\n${JSON.stringify({ name: "search", arguments: args })}\n</tool_call>`;
  });
}

/** Every document in a bin of its own, so that the bins can be counted. */
const evaluate = (model: ReturnType<typeof researcher>) =>
  evaluateDual(questions, {
    system2: model,
    corpus: "world 11",
    tools: [searchTool(world.documents)],
    packing: "one",
    capacity: 2_000,
  });

test("bins that hold the fact and bins that do not are counted apart", async () => {
  const { system1, overall } = await evaluate(researcher(() => undefined));
  expect(overall.accuracy).toBe(1);
  expect(system1.found).toMatchObject({ n: questions.length, accuracy: 1 });
  expect(system1.denied.n).toBeGreaterThan(questions.length);
  expect(system1.denied.accuracy).toBe(1);
});

test("a missed fact and a false find lower their own figure only", async () => {
  const missed = await evaluate(
    researcher((question, holds) => (question === 0 && holds ? `- ${NOTHING_RELEVANT}` : undefined)),
  );
  expect(missed.system1.found.accuracy).toBe(1 - 1 / questions.length);
  expect(missed.system1.denied.accuracy).toBe(1);
  const invented = await evaluate(
    researcher((question, holds) => (question === 0 && !holds ? "- something else" : undefined)),
  );
  expect(invented.system1.found.accuracy).toBe(1);
  expect(invented.system1.denied.accuracy).toBeLessThan(1);
});

/**
 * Writes self_test.json of a shipped relay agent: prompts, and the tokens that the plain reference in f64 adds to them.
 * The page compares what a graphics device writes with these before it trusts the device.
 * usage: node pretrain/run.mjs selfTest --id NAME [--questions 3]
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openCheckpoint } from "../src/checkpoint/load";
import { folderSource } from "../src/checkpoint/nodeFolder";
import { sequentialPattern } from "../src/recursion/pattern";
import { NO_MESSAGE } from "../src/recursion/prompts";
import { relayQuestion } from "../src/recursion/relayTask";
import { cutPrompt } from "../src/recursion/slottedPrompts";
import { loadReferenceModel, type ReferenceModel, referenceLogits } from "../src/reference/decoder";
import { loadTokenizerFrom } from "../src/text/loadTokenizer";
import { SELF_TEST_FILE } from "../src/worker/loadProtocol";
import type { SelfTest } from "../src/worker/selfTest";

const MOST_TOKENS = 12;
/** Logits that are nearer to each other than this may change places by rounding alone. */
const LEAST_MARGIN = 0.05;

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { id: { type: "string" }, questions: { type: "string", default: "3" } },
  });
  if (!values.id) throw new Error("--id NAME is needed");
  const folder = join("public", "models", values.id);
  const source = folderSource(folder);
  const model = await loadReferenceModel(await openCheckpoint(source));
  const tokenizer = await loadTokenizerFrom(source);
  const pattern = sequentialPattern(["planner", "critic", "solver"]);
  const test: SelfTest = { prompts: [], tokens: [] };
  for (let seed = 0; test.prompts.length < Number(values.questions); seed++) {
    const question = relayQuestion(seed, { pattern, hops: 1 + (seed % 3), deal: "with" });
    const agent = test.prompts.length % pattern.roles.length;
    const { pieces } = cutPrompt(tokenizer, question.messages({ agent, round: 1, register: "note" }));
    const nobody = tokenizer.encode(NO_MESSAGE);
    const prompt = pieces.flatMap((piece, i) => (i === 0 ? piece : [...nobody, ...piece]));
    const tokens = greedyTokens(model, prompt);
    if (!tokens || tokens.length === 0) continue;
    console.log(`${pattern.roles[agent]}, question ${seed}: ${JSON.stringify(tokenizer.decode(tokens))}`);
    test.prompts.push(prompt);
    test.tokens.push(tokens);
  }
  writeFileSync(join(folder, SELF_TEST_FILE), `${JSON.stringify(test)}\n`);
}

/** Up to the end token; undefined where two tokens are too near to each other. */
export function greedyTokens(model: ReferenceModel, prompt: readonly number[]): number[] | undefined {
  const { vocabSize, eosIds } = model.config;
  const tokens: number[] = [];
  while (tokens.length < MOST_TOKENS) {
    const last = referenceLogits(model, { ids: [...prompt, ...tokens] }).slice(-vocabSize);
    let best = 0;
    for (let id = 1; id < vocabSize; id++) if ((last[id] as number) > (last[best] as number)) best = id;
    const margin = Math.min(
      ...last.map((logit, id) => (id === best ? Number.POSITIVE_INFINITY : (last[best] as number) - logit)),
    );
    if (margin < LEAST_MARGIN) return undefined;
    if (eosIds.includes(best)) break;
    tokens.push(best);
  }
  return tokens;
}

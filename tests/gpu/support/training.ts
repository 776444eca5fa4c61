/** A small system with trainable links, and questions for it: what the tests of training train on. */
import type { ModelConfig } from "../../../src/checkpoint/config";
import { openCheckpoint } from "../../../src/checkpoint/load";
import { randomCheckpoint } from "../../../src/checkpoint/randomCheckpoint";
import { RecursiveLink } from "../../../src/links/recursiveLink";
import { Random } from "../../../src/random/random";
import { type LatentModel, openLatentModel, type RecursionSystem } from "../../../src/recursion/agent";
import { sequentialPattern } from "../../../src/recursion/pattern";
import { SLOT } from "../../../src/recursion/prompts";
import type { Tape } from "../../../src/tensor/tape";
import type { TrainingTask } from "../../../src/train/stage";
import { trainableSystem } from "../../../src/train/trainableSystem";
import { LLAMA, QWEN3, SHOW_IDS } from "./models";

const tokenizer = { ...SHOW_IDS, encode: (text: string) => (text === " none" ? [7, 9] : SHOW_IDS.encode(text)) };

/** Two models of different widths and architectures. */
export async function openTinyModels(tape: Tape): Promise<LatentModel[]> {
  const models: LatentModel[] = [];
  const configs: ModelConfig[] = [QWEN3, { ...LLAMA, vocabSize: QWEN3.vocabSize }];
  for (const [seed, config] of configs.entries()) {
    const checkpoint = await openCheckpoint(randomCheckpoint({ ...config, eosIds: [3] }, { seed }));
    models.push(await openLatentModel({ id: `random-${seed}`, tape, checkpoint, tokenizer }));
  }
  return models;
}

/** A planner and a solver. */
export async function tinySystem(models: readonly LatentModel[], seed = 1): Promise<RecursionSystem> {
  const pattern = sequentialPattern(["planner", "solver"]);
  const agents = pattern.roles.map((role, i) => ({ id: role, role, model: models[i % models.length]! }));
  return trainableSystem({ agents, pattern, seed, form: "released", start: "ridge" });
}

export function linksOf({ agents, outerLinks }: RecursionSystem): RecursiveLink[] {
  return [...agents.map(({ innerLink }) => innerLink), ...outerLinks].filter((link) => link instanceof RecursiveLink);
}

export function disposeLinks(system: RecursionSystem): void {
  for (const link of linksOf(system)) link.dispose();
}

/** Prompts of ragged lengths; what is to be written depends on the question. */
export const TINY_TASK: TrainingTask = {
  name: "tiny",
  question: (seed) => {
    const random = new Random(seed, 5);
    const ids = (count: number) => Array.from({ length: count }, () => 10 + random.int(90));
    const text = (own: readonly number[]) => own.map((id) => `<${id}>`).join("");
    const prompts = [0, 1].map(() => `${text(ids(3 + random.int(4)))}${SLOT}${text(ids(2))}`);
    const first = 20 + random.int(3);
    return {
      text: `question ${seed}`,
      messages: ({ agent }) => [{ role: "user", content: prompts[agent] as string }],
      target: ({ agent, round }) => text([first, 30 + agent, 40 + round].slice(0, 1 + ((seed + agent) % 3))),
      grade: (answer) => ({ answer, correct: answer.startsWith(`<${first}>`) }),
    };
  },
};

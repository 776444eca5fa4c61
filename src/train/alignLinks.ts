/**
 * A start for outer links: each learns to make the sender's input embedding of a token into the reader's of the same
 * token, for the tokens that messages of the task are made of. A linear map cannot: embeddings of names lie anywhere in
 * either space, and there are more of them than a small model is wide. No agent runs, so it takes seconds.
 */
import type { RecursiveLink } from "../links/recursiveLink";
import { Random } from "../random/random";
import { type RecursionAgent, type RecursionSystem, tapeOf } from "../recursion/agent";
import { commonTokens } from "../recursion/embeddingMap";
import { planTurns } from "../recursion/pattern";
import { cosineLoss } from "../tensor/ops/losses";
import { AdamW } from "./optimizer";
import { trainingSeeds } from "./questionSeeds";
import { cosineRate } from "./schedule";
import { inScope } from "./scope";
import { TrainingError } from "./settings";
import type { TrainingTask } from "./stage";

export interface AlignOptions {
  seed: number;
  /** Edges whose links are aligned. Default: all. */
  edges?: readonly number[];
  /** Default 400. */
  steps?: number;
  /** Default 3e-3. */
  learningRate?: number;
  /** Size of the normal noise on the sender's embeddings as a share of theirs: thoughts are never quite words. Default 0.3. */
  noise?: number;
  signal?: AbortSignal;
}

/** Questions whose messages are looked through for tokens. */
const QUESTIONS = 512;
const STREAM = 0xa119;

/**
 * @param system its outer links are changed in place; they are left trainable
 * @returns for each edge the mean of 1 - cosine, noise included, in the last step
 * @throws TrainingError when an edge's agents have no token of the task in common; the signal's reason
 */
export async function alignOuterLinks(
  system: RecursionSystem,
  task: TrainingTask,
  { seed, edges, steps = 400, learningRate = 3e-3, noise = 0.3, signal }: AlignOptions,
): Promise<number[]> {
  const tape = tapeOf(system);
  const losses: number[] = [];
  for (const index of edges ?? system.pattern.edges.keys()) {
    const edge = system.pattern.edges[index] as { from: number; to: number };
    const [sender, reader] = [system.agents[edge.from], system.agents[edge.to]] as [RecursionAgent, RecursionAgent];
    const link = system.outerLinks[index] as RecursiveLink;
    const used = usedTokens(system, task, edge.from, seed);
    const pairs = commonTokens(sender.model, reader.model).filter(([id]) => used.has(id));
    if (pairs.length === 0) {
      throw new TrainingError(`outer link from ${sender.id} to ${reader.id}: no token of the task in common`);
    }
    const inputs = await sender.model.language.embed(pairs.map(([id]) => id));
    const outputs = await reader.model.language.embed(pairs.map(([, id]) => id));
    const spread = (noise * sender.model.embeddingNorms.mean) / Math.sqrt(link.inputSize);
    link.setTrainable(true);
    const weights = link.parameters.map(({ tensor }) => tensor);
    const optimizer = tape.outsideScopes(() => new AdamW(tape, weights));
    let loss = Number.NaN;
    try {
      for (let step = 1; step <= steps; step++) {
        signal?.throwIfAborted();
        const random = new Random(seed, STREAM + index * steps + step);
        const noisy = inputs.map((value) => value + spread * random.normal());
        const update = inScope(tape, () => {
          const thoughts = tape.tensor(noisy, pairs.length, link.inputSize);
          const recorded = cosineLoss(link.forward(thoughts), tape.tensor(outputs, pairs.length, link.outputSize));
          tape.backward(recorded);
          return optimizer.update(
            recorded,
            cosineRate(step, { steps, learningRate, warmupSteps: 10, finalShare: 0.02 }),
          );
        });
        loss = (await update).loss;
      }
    } finally {
      optimizer.dispose();
    }
    losses.push(loss);
  }
  return losses;
}

/** Tokens that the messages of an agent are made of. */
function usedTokens(system: RecursionSystem, task: TrainingTask, agent: number, seed: number): Set<number> {
  const { language } = (system.agents[agent] as RecursionAgent).model;
  const turns = planTurns(system.pattern, 3).filter((turn) => turn.agent === agent);
  const used = new Set<number>(language.config.eosIds);
  for (const question of trainingSeeds(seed, 1, QUESTIONS).map((s) => task.question(s))) {
    for (const { round } of turns) {
      const text = question.target?.({ agent, round, register: "note" });
      for (const id of text === undefined ? [] : language.tokenizer.encode(text)) used.add(id);
    }
  }
  return used;
}

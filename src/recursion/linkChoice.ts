/**
 * The links of a system replaced by their untrained stand-ins, inner and outer links apart. What each choice means:
 *
 * | choice | inner link of an agent | outer link of an edge |
 * |---|---|---|
 * | trained | as given | as given |
 * | identity | h at the length of the agent's embeddings | the thought at the length of the reader's embeddings; where the widths differ by a random orthonormal projection |
 * | ridge | least squares from hidden states to the next token's embedding | least squares from the sender's embeddings to the reader's; the thought itself where both have one model |
 * | softEmbedding | mean of the agent's embeddings, weighted by its head | mean of the reader's embeddings, weighted by how near the thought is to the sender's |
 * | zero | zeros | zeros |
 * | noise | random directions at the length of an embedding | the same |
 * | shuffled | (none: whole messages change places, see `order` of `unroll`) | as given |
 * | swapped | that of the next agent with the same width, its own where there is none | that of the next edge between the same widths, likewise |
 */
import {
  matrixLink,
  noiseLink,
  normMatchedIdentity,
  softEmbedding as softEmbeddingLink,
  zeroLink,
} from "../links/baselines";
import type { Link } from "../links/link";
import { RidgeFit } from "../links/ridge";
import type { Tensor } from "../tensor/tensor";
import type { LinkChoice } from "../trace/recursionEvents";
import { type LatentModel, type RecursionAgent, type RecursionSystem, type Ring, tapeOf, widthOf } from "./agent";
import { commonTokens, embeddingMap } from "./embeddingMap";
import { planTurns } from "./pattern";
import type { RecursionQuestion } from "./question";
import { RecursionBatch } from "./recursionBatch";
import { checkChoices, innerNoiseSeed, outerNoiseSeed, trainedChoice } from "./trainedChoice";

/** Agents on the tape, without their links. */
export type UnlinkedSystem = Ring<LatentModel>;

export interface ChooseLinksOptions {
  inner: LinkChoice;
  outer: LinkChoice;
  /** Trained links; needed where a choice takes them. */
  trained?: RecursionSystem;
  /** Least-squares matrices of the inner links, from `fitInnerLinks`; needed for inner links of the choice "ridge". */
  innerFits?: readonly Float64Array[];
  /** Of random projections and noise. Default 0. */
  seed?: number;
}

export interface ChosenLinks {
  system: RecursionSystem;
  /** Whether messages should change places among the questions. */
  isShuffled: boolean;
  /** Gives back what was made here; trained links stay. */
  dispose(): void;
}

/**
 * @throws RangeError naming the link for a choice that is not there: trained links that are not given, an inner link
 * "shuffled", widths without a second link to swap, soft embeddings between different tokenizers
 */
export async function chooseLinks(system: UnlinkedSystem, options: ChooseLinksOptions): Promise<ChosenLinks> {
  const { inner, outer, trained } = options;
  checkChoices(options);
  const made: Link[] = [];
  const keep = (link: Link) => {
    made.push(link);
    return link;
  };
  try {
    const agents: RecursionAgent[] = [];
    for (const [index, agent] of system.agents.entries()) {
      const own = trainedChoice(inner, trained, ({ agents }) => agents.map(({ innerLink }) => innerLink), index);
      agents.push({ ...agent, innerLink: own ?? keep(innerLink(agent, inner, index, options)) });
    }
    const outerLinks: Link[] = [];
    for (const [index, edge] of system.pattern.edges.entries()) {
      const own = trainedChoice(outer, trained, ({ outerLinks }) => outerLinks, index);
      const ends = [agents[edge.from], agents[edge.to]] as [RecursionAgent, RecursionAgent];
      outerLinks.push(own ?? keep(await outerLink(ends, outer, index, options)));
    }
    return {
      system: { pattern: system.pattern, agents, outerLinks },
      isShuffled: outer === "shuffled",
      dispose: () => {
        for (const link of made) link.dispose();
      },
    };
  } catch (error) {
    for (const link of made) link.dispose();
    throw error;
  }
}

function innerLink(
  { id, model }: Pick<RecursionAgent, "id" | "model">,
  choice: LinkChoice,
  index: number,
  { innerFits, seed = 0 }: ChooseLinksOptions,
): Link {
  const { tape, config, tensors } = model.decoder;
  const sizes = { tape, inputSize: config.hiddenSize, outputSize: config.hiddenSize };
  const embeddingNorm = model.embeddingNorms.mean;
  switch (choice) {
    case "identity":
      return normMatchedIdentity({ ...sizes, embeddingNorm });
    case "ridge": {
      const matrix = innerFits?.[index];
      if (!matrix) throw new RangeError(`inner link of ${id}: ridge needs a fit`);
      return matrixLink({ ...sizes, matrix, embeddingNorm });
    }
    case "softEmbedding":
      return softEmbeddingLink({ tape, head: tensors.head, embedding: tensors.embedding });
    case "zero":
      return zeroLink(sizes);
    case "noise":
      return noiseLink({ ...sizes, embeddingNorm, seed: innerNoiseSeed(seed, index) });
    default:
      throw new RangeError(`inner link of ${id}: ${choice} is no link of one agent`);
  }
}

async function outerLink(
  [sender, reader]: readonly [RecursionAgent, RecursionAgent],
  choice: LinkChoice,
  index: number,
  { seed = 0 }: ChooseLinksOptions,
): Promise<Link> {
  const { tape } = reader.model.decoder;
  const sizes = { tape, inputSize: widthOf(sender), outputSize: widthOf(reader) };
  const embeddingNorm = reader.model.embeddingNorms.mean;
  switch (choice) {
    case "identity":
      return normMatchedIdentity({ ...sizes, embeddingNorm, projection: "orthonormal", seed });
    case "ridge":
      return matrixLink({ ...sizes, matrix: await outerMatrix(sender.model, reader.model) });
    case "softEmbedding":
      checkSameTokens(sender, reader);
      return softEmbeddingLink({
        tape,
        head: sender.model.decoder.tensors.embedding,
        embedding: reader.model.decoder.tensors.embedding,
      });
    case "zero":
      return zeroLink(sizes);
    case "noise":
      return noiseLink({ ...sizes, embeddingNorm, seed: outerNoiseSeed(seed, index) });
    default:
      throw new RangeError(`outer link from ${sender.id} to ${reader.id}: ${choice} is not known`);
  }
}

async function outerMatrix(from: LatentModel, to: LatentModel): Promise<Float64Array> {
  if (from !== to) return embeddingMap(from, to);
  const size = from.decoder.config.hiddenSize;
  return Float64Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0));
}

function checkSameTokens(sender: RecursionAgent, reader: RecursionAgent): void {
  const size = sender.model.language.config.vocabSize;
  const pairs = commonTokens(sender.model, reader.model);
  if (size === reader.model.language.config.vocabSize && pairs.every(([a, b]) => a === b)) return;
  throw new RangeError(`outer link from ${sender.id} to ${reader.id}: softEmbedding needs one tokenizer for both`);
}

export interface FitOptions {
  /** Length of messages: targets are cut, or padded with end tokens, to it. */
  latentSteps: number;
  /** Rounds whose turns are fitted. Default 3. */
  rounds?: number;
  /** Questions that are read at a time. Default 32. */
  batchSize?: number;
  signal?: AbortSignal;
}

/**
 * Least-squares inner links, one for each agent: from the hidden states that predict the tokens of the agent's targets
 * to the embeddings of these tokens, when it has read the targets of the others as messages.
 * @param questions with targets, other ones than those of the evaluation
 * @returns [hiddenSize, hiddenSize] each
 * @throws RangeError for questions without targets; the signal's reason after an abort
 */
export async function fitInnerLinks(
  system: UnlinkedSystem,
  questions: readonly RecursionQuestion[],
  { latentSteps, rounds = 3, batchSize = 32, signal }: FitOptions,
): Promise<Float64Array[]> {
  const placeholder = await chooseLinks(system, { inner: "zero", outer: "zero" });
  const { agents } = placeholder.system;
  const tape = tapeOf(placeholder.system);
  const fits = agents.map((agent) => new RidgeFit(widthOf(agent), widthOf(agent)));
  // One turn more than is read: the last agent's message of the last round is fitted as well.
  const turns = planTurns(system.pattern, rounds + 1).filter(({ round }) => round <= rounds);
  try {
    for (let start = 0; start < questions.length; start += batchSize) {
      signal?.throwIfAborted();
      const batch = new RecursionBatch(placeholder.system, questions.slice(start, start + batchSize));
      try {
        for (const turn of turns) {
          const { decoder } = (agents[turn.agent] as RecursionAgent).model;
          const targets = batch.targetIds(turn, latentSteps);
          const fills = batch.textMessages(turn, latentSteps);
          const [hidden, embeddings] = tape.noGrad(() =>
            tape.scope(() => [
              batch.prompts(turn.agent, turn.round).predicting(fills, targets),
              decoder.embed(tape.integers(targets.flat())),
            ]),
          ) as [Tensor, Tensor];
          (fits[turn.agent] as RidgeFit).add(await hidden.read(), await embeddings.read());
          hidden.dispose();
          embeddings.dispose();
        }
      } finally {
        batch.dispose();
      }
    }
    return fits.map((fit) => fit.solve());
  } finally {
    placeholder.dispose();
  }
}

/**
 * The agents of a recursion: a language model that reads vectors and gives hidden states, a role, and an inner link. On
 * the tape gradients pass as well; on other engines latent thoughts alone. Agents may differ in width, depth, tokenizer.
 */
import type { Link, LinkSizes } from "../links/link";
import type { LanguageModel } from "../model/languageModel";
import { type LoadWgslModelOptions, loadWgslModel, type WgslLanguageModel } from "../model/wgslModel";
import { DifferentiableDecoder } from "../tensor/decoder";
import { loadDecoderTensors } from "../tensor/decoderWeights";
import { gatherRows } from "../tensor/ops/rows";
import type { Tape } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import { type Pattern, planTurns } from "./pattern";

/** Lengths of the rows of an input embedding. */
export interface EmbeddingNorms {
  mean: number;
  /** 5th percentile. */
  low: number;
  /** 95th percentile. */
  high: number;
}

/** A language model that reads vectors and gives hidden states, on any engine. Several agents may share one. */
export interface ThinkingModel {
  /** Reads and writes text, from the same weights. */
  readonly language: LanguageModel;
  readonly embeddingNorms: EmbeddingNorms;
  /** Length of each row of the input embedding. */
  readonly embeddingLengths: Float32Array;
}

/** With frozen weights on the tape, so that gradients pass through it. */
export interface LatentModel extends ThinkingModel {
  readonly decoder: DifferentiableDecoder;
  /** Bytes of weights and caches, without what the tape holds of a run. */
  readonly liveBytes: number;
  dispose(): void;
}

export interface OpenLatentModelOptions extends Omit<LoadWgslModelOptions, "gpu"> {
  tape: Tape;
}

/** A latent model whose text goes through our own engine. */
export interface WgslLatentModel extends LatentModel {
  readonly language: WgslLanguageModel;
}

/**
 * Loads a checkpoint once for both paths: decoding text, and latent thoughts with gradients.
 * @throws as `loadWgslModel`; nothing stays allocated then
 */
export async function openLatentModel(options: OpenLatentModelOptions): Promise<WgslLatentModel> {
  const { tape, checkpoint, signal } = options;
  const language = await loadWgslModel({ ...options, gpu: tape.gpu });
  try {
    const before = tape.liveBytes;
    const tensors = await loadDecoderTensors(tape, checkpoint, {
      shared: language.weights,
      ...(signal && { signal }),
    });
    const decoder = new DifferentiableDecoder(tape, tensors);
    const ownBytes = tape.liveBytes - before;
    try {
      return new SharedModel(language, decoder, await rowLengths(tensors.embedding), ownBytes);
    } catch (error) {
      decoder.dispose();
      throw error;
    }
  } catch (error) {
    language.dispose();
    throw error;
  }
}

class SharedModel implements WgslLatentModel {
  readonly embeddingNorms: EmbeddingNorms;
  private isDisposed = false;

  constructor(
    readonly language: WgslLanguageModel,
    readonly decoder: DifferentiableDecoder,
    readonly embeddingLengths: Float32Array,
    private readonly ownBytes: number,
  ) {
    this.embeddingNorms = normsOf(embeddingLengths);
  }

  get liveBytes(): number {
    return this.language.liveBytes + (this.isDisposed ? 0 : this.ownBytes);
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    this.decoder.dispose();
    this.language.dispose();
  }
}

function normsOf(embeddingLengths: Float32Array): EmbeddingNorms {
  const sorted = Float32Array.from(embeddingLengths).sort();
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] as number;
  const mean = sorted.reduce((sum, length) => sum + length, 0) / sorted.length;
  return { mean, low: at(0.05), high: at(0.95) };
}

/** Rows of a table that are read at a time. */
const READ_ROWS = 4096;

/**
 * A model of any engine for latent thoughts without gradients.
 * @throws RangeError when it cannot read embeddings or gives no hidden states
 */
export async function thinkingModel(language: LanguageModel, signal?: AbortSignal): Promise<ThinkingModel> {
  const { capabilities, config, id } = language;
  if (!capabilities.embeddingsIn) throw new RangeError(`${id} reads token ids only: it cannot think in latents`);
  if (!capabilities.hiddenStates) throw new RangeError(`${id} gives no hidden states: it cannot think in latents`);
  const embeddingLengths = new Float32Array(config.vocabSize);
  for (let start = 0; start < config.vocabSize; start += READ_ROWS) {
    signal?.throwIfAborted();
    const ids = Array.from({ length: Math.min(READ_ROWS, config.vocabSize - start) }, (_, i) => start + i);
    embeddingLengths.set(lengthsOf(await language.embed(ids), config.hiddenSize), start);
  }
  return { language, embeddingLengths, embeddingNorms: normsOf(embeddingLengths) };
}

async function rowLengths(parts: readonly Tensor[]): Promise<Float32Array> {
  const lengths: number[] = [];
  for (const part of parts) {
    const { tape, rows, columns } = part;
    for (let start = 0; start < rows; start += READ_ROWS) {
      const count = Math.min(READ_ROWS, rows - start);
      const block = tape.noGrad(() =>
        tape.scope(() => gatherRows(part, tape.integers(Array.from({ length: count }, (_, i) => start + i)))),
      );
      const values = await block.read();
      block.dispose();
      lengths.push(...lengthsOf(values, columns));
    }
  }
  return Float32Array.from(lengths);
}

function lengthsOf(values: Float32Array, columns: number): number[] {
  return Array.from({ length: values.length / columns }, (_, row) => {
    let square = 0;
    for (let i = row * columns; i < (row + 1) * columns; i++) square += (values[i] as number) ** 2;
    return Math.sqrt(square);
  });
}

export interface Agent<M extends ThinkingModel = ThinkingModel, L extends LinkSizes = LinkSizes> {
  /** Unique among the agents of a system. */
  id: string;
  /** What its prompt calls it. */
  role: string;
  model: M;
  /** From its hidden states to its own input embeddings. */
  innerLink: L;
}

/** Agents, who hands on to whom, and the links between them. Belongs to the caller, links and models included. */
export interface AgentSystem<M extends ThinkingModel = ThinkingModel, L extends LinkSizes = LinkSizes> {
  pattern: Pattern;
  /** As many as the pattern has roles; the last one writes the answer. */
  agents: readonly Agent<M, L>[];
  /** One for each edge of the pattern, in its order: from the sender's embeddings to the receiver's. */
  outerLinks: readonly L[];
}

/** On the tape. */
export type RecursionAgent = Agent<LatentModel, Link>;
export type RecursionSystem = AgentSystem<LatentModel, Link>;

/** A system without its links. */
export interface Ring<M extends ThinkingModel = ThinkingModel> {
  pattern: Pattern;
  agents: readonly Omit<Agent<M>, "innerLink">[];
}

export const widthOf = ({ model }: Pick<Agent, "model">): number => model.language.config.hiddenSize;

/** The tape on which all agents of a system live. */
export const tapeOf = ({ agents }: RecursionSystem): Tape => (agents[0] as RecursionAgent).model.decoder.tape;

/** @throws RangeError naming the agent, the edge or the link that does not fit */
export function checkSystem({ pattern, agents, outerLinks }: AgentSystem): void {
  planTurns(pattern, 1);
  if (agents.length !== pattern.roles.length) {
    throw new RangeError(`pattern ${pattern.name} has ${pattern.roles.length} agents, not ${agents.length}`);
  }
  if (outerLinks.length !== pattern.edges.length) {
    throw new RangeError(`pattern ${pattern.name} has ${pattern.edges.length} outer links, not ${outerLinks.length}`);
  }
  const ids = new Set<string>();
  for (const agent of agents) {
    if (ids.has(agent.id)) throw new RangeError(`agent ${agent.id} is there twice`);
    ids.add(agent.id);
    checkSizes(`inner link of ${agent.id}`, agent.innerLink, widthOf(agent), widthOf(agent));
  }
  pattern.edges.forEach(({ from, to }, edge) => {
    const [sender, reader] = [agents[from] as Agent, agents[to] as Agent];
    const label = `outer link from ${sender.id} to ${reader.id}`;
    checkSizes(label, outerLinks[edge] as LinkSizes, widthOf(sender), widthOf(reader));
  });
}

/** @throws RangeError naming an agent that lives on another tape than the first */
export function checkTape(system: RecursionSystem): void {
  const tape = tapeOf(system);
  for (const { id, model } of system.agents) {
    if (model.decoder.tape !== tape) throw new RangeError(`agent ${id} lives on another tape`);
  }
}

function checkSizes(label: string, { inputSize, outputSize }: LinkSizes, from: number, to: number): void {
  if (inputSize !== from || outputSize !== to) {
    throw new RangeError(`${label} leads from ${inputSize} to ${outputSize} instead of from ${from} to ${to}`);
  }
}

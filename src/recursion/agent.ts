/**
 * The agents of a recursion: a language model that also runs on the tape, so that latent thoughts and gradients can
 * pass through it, a role, and an inner link. Agents may differ in width, depth and tokenizer.
 */
import type { Checkpoint } from "../checkpoint/checkpoint";
import type { Link } from "../links/link";
import type { LanguageModel } from "../model/languageModel";
import { loadWgslModel } from "../model/wgslModel";
import { DifferentiableDecoder } from "../tensor/decoder";
import { loadDecoderTensors } from "../tensor/decoderWeights";
import { gatherRows } from "../tensor/ops/rows";
import type { Tape } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import type { ModelTokenizer } from "../text/tokenizer";
import { type Pattern, planTurns } from "./pattern";

/** Lengths of the rows of an input embedding. */
export interface EmbeddingNorms {
  mean: number;
  /** 5th percentile. */
  low: number;
  /** 95th percentile. */
  high: number;
}

/** A language model with frozen weights on the tape. Several agents may share one. */
export interface LatentModel {
  /** Reads and writes text, from the same weights. */
  readonly language: LanguageModel;
  readonly decoder: DifferentiableDecoder;
  readonly embeddingNorms: EmbeddingNorms;
  /** Length of each row of the input embedding. */
  readonly embeddingLengths: Float32Array;
  /** Bytes of weights and caches, without what the tape holds of a run. */
  readonly liveBytes: number;
  dispose(): void;
}

export interface OpenLatentModelOptions {
  id: string;
  tape: Tape;
  checkpoint: Checkpoint;
  tokenizer: ModelTokenizer;
  onProgress?: (loadedBytes: number, totalBytes: number) => void;
  signal?: AbortSignal;
}

/**
 * Loads a checkpoint once for both paths: decoding text, and latent thoughts with gradients.
 * @throws as `loadWgslModel`; nothing stays allocated then
 */
export async function openLatentModel(options: OpenLatentModelOptions): Promise<LatentModel> {
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

class SharedModel implements LatentModel {
  readonly embeddingNorms: EmbeddingNorms;
  private isDisposed = false;

  constructor(
    readonly language: LanguageModel,
    readonly decoder: DifferentiableDecoder,
    readonly embeddingLengths: Float32Array,
    private readonly ownBytes: number,
  ) {
    const sorted = Float32Array.from(embeddingLengths).sort();
    const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] as number;
    const mean = sorted.reduce((sum, length) => sum + length, 0) / sorted.length;
    this.embeddingNorms = { mean, low: at(0.05), high: at(0.95) };
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

/** Rows of a table that are read back at a time. */
const READ_ROWS = 4096;

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
      for (let row = 0; row < count; row++) {
        let square = 0;
        for (let i = row * columns; i < (row + 1) * columns; i++) square += (values[i] as number) ** 2;
        lengths.push(Math.sqrt(square));
      }
    }
  }
  return Float32Array.from(lengths);
}

export interface RecursionAgent {
  /** Unique among the agents of a system. */
  id: string;
  /** What its prompt calls it. */
  role: string;
  model: LatentModel;
  /** From its hidden states to its own input embeddings. */
  innerLink: Link;
}

/** Agents, who hands on to whom, and the links between them. Belongs to the caller, links and models included. */
export interface RecursionSystem {
  pattern: Pattern;
  /** As many as the pattern has roles; the last one writes the answer. */
  agents: readonly RecursionAgent[];
  /** One for each edge of the pattern, in its order: from the sender's embeddings to the receiver's. */
  outerLinks: readonly Link[];
}

export const widthOf = ({ model }: RecursionAgent): number => model.decoder.config.hiddenSize;

/** The tape on which all agents of a system live. */
export const tapeOf = ({ agents }: RecursionSystem): Tape => (agents[0] as RecursionAgent).model.decoder.tape;

/** @throws RangeError naming the agent, the edge or the link that does not fit */
export function checkSystem({ pattern, agents, outerLinks }: RecursionSystem): void {
  planTurns(pattern, 1);
  if (agents.length !== pattern.roles.length) {
    throw new RangeError(`pattern ${pattern.name} has ${pattern.roles.length} agents, not ${agents.length}`);
  }
  if (outerLinks.length !== pattern.edges.length) {
    throw new RangeError(`pattern ${pattern.name} has ${pattern.edges.length} outer links, not ${outerLinks.length}`);
  }
  const tape = (agents[0] as RecursionAgent).model.decoder.tape;
  const ids = new Set<string>();
  for (const agent of agents) {
    if (ids.has(agent.id)) throw new RangeError(`agent ${agent.id} is there twice`);
    ids.add(agent.id);
    if (agent.model.decoder.tape !== tape) throw new RangeError(`agent ${agent.id} lives on another tape`);
    checkSizes(`inner link of ${agent.id}`, agent.innerLink, widthOf(agent), widthOf(agent));
  }
  pattern.edges.forEach(({ from, to }, edge) => {
    const [sender, reader] = [agents[from] as RecursionAgent, agents[to] as RecursionAgent];
    const label = `outer link from ${sender.id} to ${reader.id}`;
    checkSizes(label, outerLinks[edge] as Link, widthOf(sender), widthOf(reader));
  });
}

function checkSizes(label: string, { inputSize, outputSize }: Link, from: number, to: number): void {
  if (inputSize !== from || outputSize !== to) {
    throw new RangeError(`${label} leads from ${inputSize} to ${outputSize} instead of from ${from} to ${to}`);
  }
}

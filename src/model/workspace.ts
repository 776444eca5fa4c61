/** Activations of a pass. Buffers grow when a pass needs more rows and stay for the next one. */
import type { ModelConfig } from "../checkpoint/config";
import type { BufferScope } from "../gpu/scope";
import { padded } from "./weights";

/**
 * All f32. The padding at the end of rows must be zero, as kernels read whole vec4s: the buffers are zero when they
 * are new, each keeps its shape, and kernels write zeros or nothing there.
 */
export class Workspace {
  /** Hidden states, [R, hiddenSize]. */
  hidden!: GPUBuffer;
  /** Hidden states after a norm. */
  normed!: GPUBuffer;
  /** [R, (heads + 2 kvHeads) * headDim]. */
  qkv!: GPUBuffer;
  /** [R, heads, headDim], each head padded. */
  query!: GPUBuffer;
  /** What attention gives, as `query`. */
  mixed!: GPUBuffer;
  /** silu(gate) * up, [R, intermediateSize]. */
  gated!: GPUBuffer;
  /** Hidden states of the last row of each sequence, [S, hiddenSize]. */
  last!: GPUBuffer;
  /** Queries of the last layer of these rows, as `query`. */
  lastQuery!: GPUBuffer;
  /** [S, vocabSize]. */
  logits!: GPUBuffer;

  private rows = 0;
  private lastRows = 0;
  private logitRows = 0;

  constructor(
    private readonly scope: BufferScope,
    private readonly config: ModelConfig,
  ) {}

  /** Bytes that stand now. */
  get liveBytes(): number {
    const { hidden, normed, qkv, query, mixed, gated, last, lastQuery, logits } = this;
    const buffers: (GPUBuffer | undefined)[] = [hidden, normed, qkv, query, mixed, gated, last, lastQuery, logits];
    return buffers.reduce((sum, buffer) => sum + (buffer?.size ?? 0), 0);
  }

  /**
   * Makes room; what a buffer held is lost when it grows.
   * @param sizes rows of a pass, of `last` and of `logits`
   * @throws GpuOutOfMemoryError
   */
  async reserve({ rows = 0, lastRows = 0, logitRows = 0 }): Promise<void> {
    const { hiddenSize, heads, kvHeads, headDim, intermediateSize, vocabSize } = this.config;
    if (rows > this.rows) {
      this.rows = 0;
      await this.renew("hidden", rows * padded(hiddenSize));
      await this.renew("normed", rows * padded(hiddenSize));
      await this.renew("qkv", rows * padded((heads + 2 * kvHeads) * headDim));
      await this.renew("query", rows * heads * padded(headDim));
      await this.renew("mixed", rows * heads * padded(headDim));
      await this.renew("gated", rows * padded(intermediateSize));
      this.rows = rows;
    }
    if (lastRows > this.lastRows) {
      this.lastRows = 0;
      await this.renew("last", lastRows * padded(hiddenSize));
      await this.renew("lastQuery", lastRows * heads * padded(headDim));
      this.lastRows = lastRows;
    }
    if (logitRows > this.logitRows) {
      this.logitRows = 0;
      await this.renew("logits", logitRows * padded(vocabSize));
      this.logitRows = logitRows;
    }
  }

  private async renew(
    name: "hidden" | "normed" | "qkv" | "query" | "mixed" | "gated" | "last" | "lastQuery" | "logits",
    elements: number,
  ): Promise<void> {
    this.scope.free(this[name]);
    this[name] = await this.scope.allocate(`activations (${name})`, elements * 4);
  }
}

/** What sampling needs of each sequence (shaders/sample.wgsl), and the tokens it has drawn. */
import type { BufferScope } from "../gpu/scope";
import { TOKENS_KEPT } from "./kernels";
import type { SamplingOptions } from "./languageModel";

/** Words of `Settings` in shaders/sample.wgsl. */
const SETTINGS_WORDS = 6;

/** In place of a token: the logits were not finite. */
export const NOT_FINITE = 0xffffffff;

export class SamplingBuffers {
  settings!: GPUBuffer;
  seen!: GPUBuffer;
  /** [R, TOKENS_KEPT]; the n-th token drawn for a row is at n % TOKENS_KEPT. */
  tokens!: GPUBuffer;

  private room = 0;

  constructor(
    private readonly scope: BufferScope,
    private readonly vocabSize: number,
  ) {}

  private get seenWords(): number {
    return Math.ceil(this.vocabSize / 32);
  }

  /** @throws GpuOutOfMemoryError */
  async reserve(sequences: number): Promise<void> {
    if (sequences <= this.room) return;
    this.room = 0;
    for (const buffer of [this.settings, this.seen, this.tokens]) this.scope.free(buffer);
    this.settings = await this.scope.allocate("sampling settings", sequences * SETTINGS_WORDS * 4);
    this.seen = await this.scope.allocate("seen tokens", sequences * this.seenWords * 4);
    this.tokens = await this.scope.allocate("drawn tokens", sequences * TOKENS_KEPT * 4);
    this.room = sequences;
  }

  /** Settings of a batch, and the ids that each sequence has read. */
  set(sequences: readonly { options: SamplingOptions; promptIds: ArrayLike<number> }[]): void {
    const words = new ArrayBuffer(sequences.length * SETTINGS_WORDS * 4);
    const floats = new Float32Array(words);
    const integers = new Uint32Array(words);
    const seen = new Uint32Array(sequences.length * this.seenWords);
    sequences.forEach(({ options, promptIds }, index) => {
      const at = index * SETTINGS_WORDS;
      floats[at] = options.temperature ?? 0;
      floats[at + 1] = options.topP ?? 1;
      floats[at + 2] = options.minP ?? 0;
      floats[at + 3] = options.repetitionPenalty ?? 1;
      integers[at + 4] = options.topK ?? 0;
      integers[at + 5] = options.seed ?? 0;
      for (let i = 0; i < promptIds.length; i++) {
        const id = promptIds[i]!;
        seen[index * this.seenWords + (id >>> 5)]! |= 1 << (id & 31);
      }
    });
    this.scope.gpu.write(this.settings, 0, integers);
    this.scope.gpu.write(this.seen, 0, seen);
  }
}

/**
 * Keys and values of all sequences of a batch. A sequence owns a run of positions, as many as it may come to have, so
 * that nothing moves while it grows and sequences of different lengths waste nothing:
 * per layer [positions, kvHeads, headDim], heads padded to multiples of 4 elements.
 */
import type { ModelConfig } from "../checkpoint/config";
import type { BufferScope } from "../gpu/scope";
import type { CacheDtype } from "./shaders";
import { padded } from "./weights";

export class KvCache {
  readonly layers: { keys: GPUBuffer; values: GPUBuffer }[] = [];
  /** (cos, sin) of the rotary embedding, [positions, headDim / 2]. */
  angles!: GPUBuffer;

  private positions = 0;
  private anglePositions = 0;

  constructor(
    private readonly scope: BufferScope,
    private readonly config: ModelConfig,
    private readonly dtype: CacheDtype,
  ) {}

  /** An empty one of the same kind, for sequences that are kept apart. */
  another(): KvCache {
    return new KvCache(this.scope, this.config, this.dtype);
  }

  /** Bytes of keys, values and angles that stand now. */
  get liveBytes(): number {
    const own = this.layers.reduce((sum, { keys, values }) => sum + keys.size + values.size, 0);
    return own + (this.angles?.size ?? 0);
  }

  /** Bytes of one position in one layer's keys (and again in its values). */
  private get positionBytes(): number {
    return this.config.kvHeads * padded(this.config.headDim) * (this.dtype === "f32" ? 4 : 2);
  }

  /** Positions of all sequences together that one binding can hold. */
  get maxPositions(): number {
    const { maxBindingBytes, maxBufferBytes } = this.scope.gpu.limits;
    return Math.floor(Math.min(maxBindingBytes, maxBufferBytes) / this.positionBytes);
  }

  /**
   * Makes room for `positions` in all sequences together, and for sequences of up to `longest`. What was cached is
   * lost when the cache grows.
   * @throws GpuOutOfMemoryError
   */
  async reserve(positions: number, longest: number): Promise<void> {
    if (positions > this.positions) {
      this.free();
      const room = this.roomFor(positions);
      for (let layer = 0; layer < this.config.layers; layer++) {
        const label = `key/value cache of layer ${layer} for ${room} positions`;
        const keys = await this.scope.allocate(label, room * this.positionBytes);
        // Pushed at once, so that `free` finds it even when the next allocation fails.
        this.layers.push({ keys, values: keys });
        this.layers[layer]!.values = await this.scope.allocate(label, room * this.positionBytes);
      }
      this.positions = room;
    }
    if (longest > this.anglePositions) {
      const room = 2 ** Math.ceil(Math.log2(Math.max(longest, 256)));
      this.anglePositions = 0;
      this.scope.free(this.angles);
      this.angles = await this.scope.allocate("rotary angles", room * this.config.headDim * 4);
      this.scope.gpu.write(this.angles, 0, rotaryAngles(room, this.config));
      this.anglePositions = room;
    }
  }

  /** Rounded up by at most a quarter, so that a batch that is a little longer each time does not allocate each time. */
  private roomFor(positions: number): number {
    const step = Math.max(64, 2 ** (Math.floor(Math.log2(positions)) - 2));
    return Math.min(this.maxPositions, Math.ceil(positions / step) * step);
  }

  /** Frees everything. */
  dispose(): void {
    this.free();
    this.scope.free(this.angles);
    this.anglePositions = 0;
  }

  /** Frees keys and values; the next `reserve` allocates them anew. */
  free(): void {
    for (const { keys, values } of this.layers) {
      this.scope.free(keys);
      this.scope.free(values);
    }
    this.layers.length = 0;
    this.positions = 0;
  }
}

/**
 * Computed here in f64: WGSL promises little accuracy for the sine of large angles.
 * @returns [positions, headDim / 2] pairs of cos and sin
 */
function rotaryAngles(positions: number, { headDim, ropeTheta }: ModelConfig): Float32Array {
  const half = headDim / 2;
  const frequencies = Array.from({ length: half }, (_, i) => ropeTheta ** ((-2 * i) / headDim));
  const table = new Float32Array(positions * headDim);
  for (let position = 0; position < positions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * frequencies[i]!;
      table[(position * half + i) * 2] = Math.cos(angle);
      table[(position * half + i) * 2 + 1] = Math.sin(angle);
    }
  }
  return table;
}

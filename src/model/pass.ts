/** What a pass is told besides the weights: which rows it has. */
import type { BufferScope } from "../gpu/scope";
import type { RowCount } from "./decoder";

/** In place of a token id: the row's embedding is in workspace.hidden already. */
export const EMBEDDING_ROW = 0xffffffff;

export interface PassRow {
  /** Where the row's sequence begins in the cache, in positions. */
  cacheStart: number;
  position: number;
  /** The sequence's number in the batch. */
  sequence: number;
  /** Tokens drawn for the sequence so far. */
  drawn: number;
  /** Token id, or EMBEDDING_ROW. */
  id: number;
}

/** Rows, their ids and the tiles in which attention takes them (`Row`, `Pass` in shaders/common/rows.wgsl). */
export class PassBuffers implements RowCount {
  uniform!: GPUBuffer;
  rows!: GPUBuffer;
  ids!: GPUBuffer;
  tiles!: GPUBuffer;
  rowCount = 0;
  tileCount = 0;

  private room = 0;

  constructor(private readonly scope: BufferScope) {}

  /** @throws GpuOutOfMemoryError */
  async reserve(rows: number): Promise<void> {
    if (rows <= this.room) return;
    const room = Math.max(64, rows);
    this.room = 0;
    this.uniform ??= await this.scope.uniform("pass", [0, 0]);
    for (const [name, bytes] of [
      ["rows", 16],
      ["ids", 4],
      ["tiles", 8],
    ] as const) {
      this.scope.free(this[name]);
      this[name] = await this.scope.allocate(name, room * bytes);
    }
    this.room = room;
  }

  /**
   * Writes the rows of the next pass. Rows of a sequence must stand together and in order.
   * @param tileRows rows of a sequence that attention takes together
   */
  set(rows: readonly PassRow[], tileRows = 1): void {
    const tiles: number[] = [];
    for (let start = 0; start < rows.length; ) {
      let end = start + 1;
      while (end < rows.length && end - start < tileRows && rows[end]!.sequence === rows[start]!.sequence) end++;
      tiles.push(start, end - start);
      start = end;
    }
    this.rowCount = rows.length;
    this.tileCount = tiles.length / 2;
    const packed = new Uint32Array(rows.length * 4);
    rows.forEach(({ cacheStart, position, sequence, drawn }, i) => {
      packed.set([cacheStart, position, sequence, drawn], i * 4);
    });
    this.scope.gpu.write(this.uniform, 0, Uint32Array.of(rows.length, this.tileCount, 0, 0));
    this.scope.gpu.write(this.rows, 0, packed);
    this.scope.gpu.write(
      this.ids,
      0,
      Uint32Array.from(rows, ({ id }) => id),
    );
    this.scope.gpu.write(this.tiles, 0, Uint32Array.from(tiles));
  }
}

/** A number of rows alone, with a list of pairs of row numbers for gathering. */
export class RowMoves implements RowCount {
  uniform!: GPUBuffer;
  pairs!: GPUBuffer;
  rowCount = 0;

  private room = 0;

  constructor(private readonly scope: BufferScope) {}

  /** @throws GpuOutOfMemoryError */
  async reserve(rows: number): Promise<void> {
    if (rows <= this.room) return;
    const room = Math.max(64, rows);
    this.room = 0;
    this.uniform ??= await this.scope.uniform("moves", [0, 0]);
    this.scope.free(this.pairs);
    this.pairs = await this.scope.allocate("moves", room * 8);
    this.room = room;
  }

  /** @param moves pairs (from, to) of row numbers */
  set(moves: readonly (readonly [number, number])[]): void {
    this.rowCount = moves.length;
    this.scope.gpu.write(this.uniform, 0, Uint32Array.of(moves.length, 0, 0, 0));
    this.scope.gpu.write(this.pairs, 0, Uint32Array.from(moves.flat()));
  }
}

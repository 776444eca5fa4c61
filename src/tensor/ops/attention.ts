/** Rotary embedding and causal attention over ragged batches. */
import { floatBits } from "../queue";
import type { Sequences } from "../sequences";
import { kernel } from "../shaders";
import type { Integers } from "../tape";
import type { Tensor } from "../tensor";

/** cos and sin of position * theta^(-2 i / headDim), computed in f64: [positions, headDim] as pairs. */
export function ropeAngles(positions: number, headDim: number, theta: number): Float32Array {
  const half = headDim / 2;
  const angles = new Float32Array(positions * headDim);
  for (let position = 0; position < positions; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * theta ** ((-2 * i) / headDim);
      angles[(position * half + i) * 2] = Math.cos(angle);
      angles[(position * half + i) * 2 + 1] = Math.sin(angle);
    }
  }
  return angles;
}

/**
 * Turns each head by its row's position.
 * @param x [R * heads, headDim], headDim even
 * @param positions of the R rows
 * @param angles `ropeAngles` as a tensor [1, positions * headDim] that covers all positions
 */
export function rope(x: Tensor, positions: Integers, angles: Tensor): Tensor {
  const { tape } = x;
  const { queue } = tape;
  const heads = x.rows / positions.length;
  if (!Number.isInteger(heads) || x.columns % 2 !== 0) {
    throw new RangeError(`rope: ${x.label} is [${x.rows}, ${x.columns}], for ${positions.length} positions`);
  }
  const known = angles.columns / x.columns;
  const beyond = positions.values.find((position) => position >= known);
  if (beyond !== undefined) throw new RangeError(`rope: position ${beyond}, and the angles cover ${known} positions`);
  const output = tape.empty("turned heads", x.rows, x.columns, tape.needsGrad(x));
  const turn = (
    input: Tensor,
    rows: Integers,
    table: Tensor,
    target: GPUBuffer,
    direction: number,
    accumulates: number,
  ) =>
    queue.dispatch(
      kernel("rope", "forward"),
      [
        queue.uniform([rows.length, heads, x.columns, x.pitch, floatBits(direction), accumulates]),
        input.buffer,
        rows.buffer,
        table.buffer,
        target,
      ],
      Math.ceil((x.rows * x.pitch) / 64),
    );
  turn(x, positions, angles, output.buffer, 1, 0);
  tape.record([output], [positions, angles], (savedPositions, savedAngles) => {
    const target = tape.gradTarget(x);
    if (target) turn(output.grad as Tensor, savedPositions, savedAngles, target.buffer, -1, target.accumulates);
  });
  return output;
}

/** Rows or keys of a workgroup, and invocations of `prepare`, as in shaders/tensor/attention.wgsl. */
const TILE = 32;
const PREPARE_LANES = 64;

export interface AttentionHeads {
  heads: number;
  kvHeads: number;
}

/**
 * softmax(q k^T / sqrt(headDim)) v over what each row sees; query head h reads key head floor(h / (heads / kvHeads)).
 * @param query [R * heads, headDim]
 * @param key [K * kvHeads, headDim], as is `value`, with K = sequences.keyRows
 * @returns [R * heads, headDim]
 * @throws RangeError when the shapes do not fit
 */
export function attention(
  query: Tensor,
  key: Tensor,
  value: Tensor,
  sequences: Sequences,
  { heads, kvHeads }: AttentionHeads,
): Tensor {
  const { tape, columns: headDim } = query;
  const { queue } = tape;
  const { rows, keyRows } = sequences;
  if (heads % kvHeads !== 0) throw new RangeError(`attention: ${heads} heads are no multiple of ${kvHeads}`);
  for (const [tensor, wanted] of [
    [query, rows * heads],
    [key, keyRows * kvHeads],
    [value, keyRows * kvHeads],
  ] as const) {
    if (tensor.rows !== wanted || tensor.columns !== headDim) {
      const { label } = tensor;
      throw new RangeError(
        `attention: ${label} is [${tensor.rows}, ${tensor.columns}] instead of [${wanted}, ${headDim}]`,
      );
    }
  }
  const scale = floatBits(1 / Math.sqrt(headDim));
  const shape = (q = 0, k = 0, v = 0) =>
    queue.uniform([rows, keyRows, heads, kvHeads, query.pitch / 4, scale, q, k, v]);
  const queryTiles = heads * Math.ceil(rows / TILE);

  const output = tape.empty("attention", rows * heads, headDim, tape.needsGrad(query, key, value));
  const lse = tape.empty("logarithms of softmax sums", 1, rows * heads);
  queue.dispatch(
    kernel("attention", "forward"),
    [shape(), query.buffer, key.buffer, value.buffer, sequences.queryKeys.buffer, output.buffer, lse.buffer],
    queryTiles,
  );
  tape.record(
    [output],
    [query, key, value, output, lse, sequences.queryKeys, sequences.keyQueries],
    (savedQuery, savedKey, savedValue, savedOutput, savedLse, queryKeys, keyQueries) => {
      const dOutput = output.grad as Tensor;
      const statistics = tape.empty("statistics of rows", 1, 2 * rows * heads);
      queue.dispatch(
        kernel("attention", "prepare"),
        [shape(), savedLse.buffer, savedOutput.buffer, dOutput.buffer, statistics.buffer],
        Math.ceil((rows * heads) / PREPARE_LANES),
      );
      const inputs = [savedQuery.buffer, savedKey.buffer, savedValue.buffer];
      const q = tape.gradTarget(query);
      if (q) {
        queue.dispatch(
          kernel("attention", "backward_query"),
          [shape(q.accumulates), ...inputs, queryKeys.buffer, statistics.buffer, dOutput.buffer, q.buffer],
          queryTiles,
        );
      }
      const unwanted = () => ({
        buffer: tape.empty("unwanted gradient", keyRows * kvHeads, headDim).buffer,
        accumulates: 0,
      });
      const wantedKey = tape.gradTarget(key);
      const wantedValue = tape.gradTarget(value);
      if (wantedKey || wantedValue) {
        const k = wantedKey ?? unwanted();
        const v = wantedValue ?? unwanted();
        queue.dispatch(
          kernel("attention", "backward_key"),
          [
            shape(0, k.accumulates, v.accumulates),
            ...inputs,
            keyQueries.buffer,
            statistics.buffer,
            dOutput.buffer,
            k.buffer,
            v.buffer,
          ],
          kvHeads * Math.ceil(keyRows / TILE),
        );
      }
    },
  );
  lse.dispose();
  return output;
}

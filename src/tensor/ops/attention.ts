/** Heads out of a fused projection, with norms and rotary embedding, and causal attention over ragged batches. */
import type { Gpu } from "../../gpu/device";
import { floatBits } from "../queue";
import { columnLanes, fixedSubgroup } from "../rowKernels";
import type { Sequences } from "../sequences";
import { kernel, type ShaderName } from "../shaders";
import { padded, type Tensor } from "../tensor";

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

export interface AttentionHeads {
  heads: number;
  kvHeads: number;
}

export interface AttentionInputsOptions extends AttentionHeads {
  headDim: number;
  /** `ropeAngles` as a tensor [1, positions * headDim] that covers all positions. */
  angles: Tensor;
  /** Weights [1, headDim] of RMS norms over each head of q and k (qwen3). Default: none. */
  norms?: { query: Tensor; key: Tensor; epsilon: number };
  /**
   * Keys and values of earlier rows, as this function has returned them: the new ones are written into the same memory,
   * at their places in `sequences`. What earlier results hold at these places must not be read any more.
   */
  into?: Tensor;
}

/**
 * Queries, keys and values of attention: the heads of q, k and v, those of q and k normalised and turned by their
 * row's position.
 * @param qkv [R, (heads + 2 kvHeads) * headDim], headDim even
 * @returns query [R * heads, headDim]; keysValues [K * 2 kvHeads, headDim], K = sequences.keyRows, of each row first the
 * keys, then the values
 * @throws RangeError when the shapes do not fit
 */
export function attentionInputs(
  qkv: Tensor,
  sequences: Sequences,
  { heads, kvHeads, headDim, angles, norms, into }: AttentionInputsOptions,
): { query: Tensor; keysValues: Tensor } {
  const { tape, rows } = qkv;
  const { queue, gpu } = tape;
  if (rows !== sequences.rows || qkv.columns !== (heads + 2 * kvHeads) * headDim || headDim % 2 !== 0) {
    throw new RangeError(
      `attentionInputs: ${qkv.label} is [${rows}, ${qkv.columns}], for ${sequences.rows} rows of ${heads} heads and ` +
        `twice ${kvHeads} key heads of ${headDim}`,
    );
  }
  const known = angles.columns / headDim;
  if (sequences.maxPosition >= known) {
    throw new RangeError(`attentionInputs: position ${sequences.maxPosition}, and the angles cover ${known} positions`);
  }
  for (const norm of norms ? [norms.query, norms.key] : []) {
    if (norm.rows !== 1 || norm.columns !== headDim || norm.dtype !== "F32") {
      throw new RangeError(
        `attentionInputs: ${norm.label} is ${norm.dtype} [${norm.rows}, ${norm.columns}] instead of F32 [1, ${headDim}]`,
      );
    }
  }
  const ownRows = sequences.keyRows * 2 * kvHeads;
  if (into && (into.rows !== ownRows || into.columns !== headDim)) {
    throw new RangeError(
      `attentionInputs: ${into.label} is [${into.rows}, ${into.columns}] instead of [${ownRows}, ${headDim}]`,
    );
  }
  const needsGrad = tape.needsGrad(qkv, norms?.query, norms?.key);
  const query = tape.empty("queries", rows * heads, headDim, needsGrad);
  const keysValues = into
    ? into.alias(ownRows, headDim, needsGrad || tape.needsGrad(into))
    : tape.empty("keys and values", ownRows, headDim, needsGrad);
  const scales = tape.empty("scales of heads", 1, norms ? rows * (heads + kvHeads) : 1);
  const epsilon = floatBits(norms?.epsilon ?? 0);
  const shape = (accumulates: number, isKey = 0) =>
    queue.uniform([
      ...[rows, heads, kvHeads, headDim, qkv.pitch, query.pitch],
      ...[norms ? 1 : 0, epsilon, accumulates, isKey],
    ]);
  const workgroups = Math.ceil((rows * (heads + 2 * kvHeads)) / 64);
  const { placement } = sequences;
  queue.dispatch(
    kernel("attentionInputs", "forward"),
    [
      shape(0),
      qkv.buffer,
      placement.buffer,
      angles.buffer,
      (norms?.query ?? angles).buffer,
      (norms?.key ?? angles).buffer,
      query.buffer,
      keysValues.buffer,
      scales.buffer,
    ],
    workgroups,
  );
  tape.record(
    [query, keysValues],
    [qkv, placement, angles, norms?.query, norms?.key, scales],
    (savedQkv, savedPlacement, savedAngles, queryNorm, keyNorm, savedScales) => {
      // Where nothing has looked at the queries, or at the keys and values, their gradient is zero.
      const dQuery = query.grad ?? tape.zeros("no gradient of queries", query.rows, headDim);
      const dOwn = keysValues.grad ?? tape.zeros("no gradient of keys", ownRows, headDim);
      const target = tape.gradTarget(qkv);
      if (target) {
        queue.dispatch(
          kernel("attentionInputs", "backward_input"),
          [
            shape(target.accumulates),
            savedQkv.buffer,
            savedPlacement.buffer,
            savedAngles.buffer,
            (queryNorm ?? savedAngles).buffer,
            (keyNorm ?? savedAngles).buffer,
            dQuery.buffer,
            dOwn.buffer,
            target.buffer,
          ],
          workgroups,
        );
      }
      for (const [isKey, norm, gradient] of [
        [0, norms?.query, dQuery],
        [1, norms?.key, dOwn],
      ] as const) {
        const normTarget = norm && tape.gradTarget(norm);
        if (!normTarget) continue;
        const { columns, lanes: WEIGHT_LANES } = columnLanes(gpu);
        queue.dispatch(
          kernel("attentionInputs", "backward_weight", { constants: { WEIGHT_COLUMNS: columns, WEIGHT_LANES } }),
          [
            shape(normTarget.accumulates, isKey),
            savedQkv.buffer,
            savedPlacement.buffer,
            savedAngles.buffer,
            savedScales.buffer,
            gradient.buffer,
            normTarget.buffer,
          ],
          Math.ceil(headDim / columns),
        );
      }
      // The earlier rows' gradients lie in the same memory as the new ones'.
      if (into) tape.addGrad(into, dOwn);
    },
  );
  scales.dispose();
  return { query, keysValues };
}

export interface AttentionOptions extends AttentionHeads {
  /** The second tensor that `sequences` names, laid out as `keysValues`; no gradient flows to it. Default: none. */
  prefix?: Tensor;
}

/**
 * softmax(q k^T / sqrt(headDim)) v over what each row sees; query head h reads key head floor(h / (heads / kvHeads)).
 * @param query [R * heads, headDim]
 * @param keysValues [K * 2 kvHeads, headDim] with K = sequences.keyRows, of each row first the keys, then the values
 * @returns [R * heads, headDim]
 * @throws RangeError when the shapes do not fit
 */
export function attention(
  query: Tensor,
  keysValues: Tensor,
  sequences: Sequences,
  { heads, kvHeads, prefix }: AttentionOptions,
): Tensor {
  const { tape, columns: headDim } = query;
  const { queue, gpu } = tape;
  const { rows, keyRows, prefixRows } = sequences;
  if (heads % kvHeads !== 0) throw new RangeError(`attention: ${heads} heads are no multiple of ${kvHeads}`);
  if (prefixRows > 0 && !prefix) throw new RangeError("attention: the sequences have a prefix, and there is none");
  for (const [tensor, wanted] of [
    [query, rows * heads],
    [keysValues, keyRows * 2 * kvHeads],
  ] as const) {
    if (tensor.rows !== wanted || tensor.columns !== headDim) {
      const { label } = tensor;
      throw new RangeError(
        `attention: ${label} is [${tensor.rows}, ${tensor.columns}] instead of [${wanted}, ${headDim}]`,
      );
    }
  }
  if (prefix && (prefix.rows < prefixRows * 2 * kvHeads || prefix.columns !== headDim)) {
    throw new RangeError(
      `attention: the prefix is [${prefix.rows}, ${prefix.columns}] instead of ` +
        `[${prefixRows * 2 * kvHeads}, ${headDim}]`,
    );
  }
  const group = heads / kvHeads;
  const { forward, gradient, constants, tile } = kernelsFor(gpu, query.pitch / 4);
  const members = largestDivisor(group, tile);
  const count = sequences.queryLengths.length;
  const rowTiles = Math.ceil(Math.max(...sequences.queryLengths) / Math.floor(tile / members));
  const keyTiles = Math.ceil(Math.max(...sequences.keyLengths) / tile);
  const scale = floatBits(1 / Math.sqrt(headDim));
  const shape = (own: number, tiles: number, accumulates = 0) =>
    queue.uniform([heads, kvHeads, own, query.pitch / 4, scale, count, tiles, accumulates]);
  const rowWorkgroups = count * rowTiles * (heads / members);

  const output = tape.empty("attention", rows * heads, headDim, tape.needsGrad(query, keysValues));
  const statistics = tape.empty("statistics of rows", 1, 2 * rows * heads);
  queue.dispatch(
    kernel(forward, "forward", { constants }),
    [
      shape(members, rowTiles),
      query.buffer,
      (prefix ?? keysValues).buffer,
      keysValues.buffer,
      sequences.table.buffer,
      output.buffer,
      statistics.buffer,
    ],
    rowWorkgroups,
  );
  tape.record(
    [output],
    [query, prefix ?? keysValues, keysValues, sequences.table, output, statistics],
    (savedQuery, savedPrefix, savedOwn, table, savedOutput, savedStatistics) => {
      const dOutput = output.grad as Tensor;
      const inputs = [savedQuery.buffer, savedPrefix.buffer, savedOwn.buffer, table.buffer, dOutput.buffer];
      const q = tape.gradTarget(query) ?? {
        buffer: tape.empty("unwanted gradient", query.rows, headDim).buffer,
        accumulates: 0,
      };
      queue.dispatch(
        kernel(gradient, "backward_query", { constants }),
        [shape(members, rowTiles, q.accumulates), ...inputs, savedStatistics.buffer, savedOutput.buffer, q.buffer],
        rowWorkgroups,
      );
      // Rows of keys that no sequence has get a gradient of zero.
      const whole = sequences.areKeysWhole ? tape.gradTarget(keysValues) : undefined;
      const buffer = whole?.buffer ?? tape.partialGradTarget(keysValues);
      if (buffer) {
        queue.dispatch(
          kernel(gradient, "backward_key", { constants }),
          [shape(group, keyTiles, whole?.accumulates ?? 1), ...inputs, savedStatistics.buffer, buffer],
          count * keyTiles * kvHeads,
        );
      }
    },
  );
  statistics.dispose();
  return output;
}

/** Shaders for a head of `headVec4` vec4s, and how many numbered rows, or keys, a workgroup of theirs takes. */
function kernelsFor(
  gpu: Gpu,
  headVec4: number,
): { forward: ShaderName; gradient: ShaderName; constants: Record<string, number>; tile: number } {
  const SUBGROUP = fixedSubgroup(gpu);
  if (SUBGROUP && headVec4 <= 16) {
    const constants = { SUBGROUP, HEAD4: padded(headVec4) };
    return { forward: "attentionSubgroup", gradient: "attentionGradientSubgroup", constants, tile: SUBGROUP };
  }
  const constants = { LANES: gpu.isSoftware ? 8 : 64 };
  return { forward: "attention", gradient: "attentionGradient", constants, tile: 32 };
}

function largestDivisor(value: number, limit: number): number {
  let divisor = Math.min(value, limit);
  while (value % divisor !== 0) divisor--;
  return divisor;
}

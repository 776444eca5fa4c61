/**
 * Causal attention with grouped queries over a ragged batch: softmax(q k^T / sqrt(headDim)) v.
 * Query head h reads key/value head floor(h / (heads / kvHeads)). Source: Vaswani et al. 2017, Ainslie et al. 2023.
 */
import { softmax } from "./softmax";

export interface AttentionShape {
  heads: number;
  kvHeads: number;
  headDim: number;
  /** Queries of each sequence: its last ones. Sums to the rows of q. */
  queryLengths: readonly number[];
  /** Keys of each sequence, at least as many as its queries. Sums to the rows of k and v. Default: queryLengths. */
  keyLengths?: readonly number[];
}

/**
 * Sequences stand one after the other without padding. The last query of a sequence sees all of its keys, the one
 * before it all but the last, and so on; no sequence sees another.
 * @param q [sum of queryLengths, heads, headDim]
 * @param k [sum of keyLengths, kvHeads, headDim]
 * @param v as k
 * @returns [sum of queryLengths, heads, headDim]
 */
export function attention(q: Float64Array, k: Float64Array, v: Float64Array, shape: AttentionShape): Float64Array {
  const { heads, kvHeads, headDim, queryLengths, keyLengths = queryLengths } = shape;
  const out = new Float64Array(q.length);
  let firstQuery = 0;
  let firstKey = 0;
  for (let sequence = 0; sequence < queryLengths.length; sequence++) {
    const queries = queryLengths[sequence]!;
    const keys = keyLengths[sequence]!;
    for (let t = 0; t < queries; t++) {
      const visible = keys - queries + t + 1;
      for (let head = 0; head < heads; head++) {
        const kvHead = Math.floor(head / (heads / kvHeads));
        const qStart = ((firstQuery + t) * heads + head) * headDim;
        const kvStart = (key: number) => ((firstKey + key) * kvHeads + kvHead) * headDim;
        const scores = new Float64Array(visible);
        for (let key = 0; key < visible; key++) {
          for (let i = 0; i < headDim; i++) {
            scores[key]! += (q[qStart + i]! * k[kvStart(key) + i]!) / Math.sqrt(headDim);
          }
        }
        const weights = softmax(scores, visible);
        for (let key = 0; key < visible; key++) {
          for (let i = 0; i < headDim; i++) {
            out[qStart + i]! += weights[key]! * v[kvStart(key) + i]!;
          }
        }
      }
    }
    firstQuery += queries;
    firstKey += keys;
  }
  return out;
}

/** Gradients of `attention`. @param dOut [sum of queryLengths, heads, headDim] */
export function attentionBackward(
  dOut: Float64Array,
  q: Float64Array,
  k: Float64Array,
  v: Float64Array,
  shape: AttentionShape,
): { dQ: Float64Array; dK: Float64Array; dV: Float64Array } {
  const { heads, kvHeads, headDim, queryLengths, keyLengths = queryLengths } = shape;
  const dQ = new Float64Array(q.length);
  const dK = new Float64Array(k.length);
  const dV = new Float64Array(v.length);
  const root = Math.sqrt(headDim);
  let firstQuery = 0;
  let firstKey = 0;
  for (let sequence = 0; sequence < queryLengths.length; sequence++) {
    const queries = queryLengths[sequence]!;
    const keys = keyLengths[sequence]!;
    for (let t = 0; t < queries; t++) {
      const visible = keys - queries + t + 1;
      for (let head = 0; head < heads; head++) {
        const kvHead = Math.floor(head / (heads / kvHeads));
        const qStart = ((firstQuery + t) * heads + head) * headDim;
        const kvStart = (key: number) => ((firstKey + key) * kvHeads + kvHead) * headDim;
        const scores = new Float64Array(visible);
        const dWeights = new Float64Array(visible);
        for (let key = 0; key < visible; key++) {
          for (let i = 0; i < headDim; i++) {
            scores[key]! += (q[qStart + i]! * k[kvStart(key) + i]!) / root;
            dWeights[key]! += dOut[qStart + i]! * v[kvStart(key) + i]!;
          }
        }
        const weights = softmax(scores, visible);
        const mean = weights.reduce((sum, weight, key) => sum + weight * dWeights[key]!, 0);
        for (let key = 0; key < visible; key++) {
          const dScore = (weights[key]! * (dWeights[key]! - mean)) / root;
          for (let i = 0; i < headDim; i++) {
            dQ[qStart + i]! += dScore * k[kvStart(key) + i]!;
            dK[kvStart(key) + i]! += dScore * q[qStart + i]!;
            dV[kvStart(key) + i]! += weights[key]! * dOut[qStart + i]!;
          }
        }
      }
    }
    firstQuery += queries;
    firstKey += keys;
  }
  return { dQ, dK, dV };
}

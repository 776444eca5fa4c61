/**
 * Multiply-adds of what agents do, for the ledger: those of matrices and attention; norms, activations and embeddings,
 * which are thousands of times fewer, are left out.
 */
import type { ModelConfig } from "../checkpoint/config";

/** The layers' multiply-adds for the rows at positions [from, to) of one sequence, each of which sees all before it. */
export function bodyMultiplyAdds(config: ModelConfig, from: number, to: number): number {
  const { layers, hiddenSize, intermediateSize, heads, kvHeads, headDim } = config;
  const rows = to - from;
  const projections = hiddenSize * headDim * (2 * heads + 2 * kvHeads);
  const feedForward = 3 * hiddenSize * intermediateSize;
  // The row at position p sees p + 1 keys and as many values.
  const keys = (to * (to + 1) - from * (from + 1)) / 2;
  return layers * (rows * (projections + feedForward) + 2 * keys * heads * headDim);
}

/** One row of logits. */
export function headMultiplyAdds({ vocabSize, hiddenSize }: ModelConfig): number {
  return vocabSize * hiddenSize;
}

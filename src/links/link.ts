/** What an agent's latents pass through, trained or not: see recursiveLink.ts and baselines.ts. */
import type { Tensor } from "../tensor/tensor";

/** What can be said of a link on any engine. */
export interface LinkSizes {
  /** Width of the hidden states that come in. */
  readonly inputSize: number;
  /** Width of the vectors that go out. */
  readonly outputSize: number;
  /** Multiply-adds of one row's way through its matrices. */
  readonly multiplyAdds: number;
}

/** A link on the tape. */
export interface Link extends LinkSizes {
  /**
   * Each row on its own.
   * @param hidden [R, inputSize], hidden states after the final norm
   * @returns [R, outputSize], embeddings for the receiving agent; owned by the current scope of the tape
   * @throws RangeError when the width differs
   */
  forward(hidden: Tensor): Tensor;
  dispose(): void;
}

/** @throws RangeError when `hidden` is not as wide as the link's input */
export function checkWidth(label: string, { inputSize }: Pick<Link, "inputSize">, hidden: Tensor): void {
  if (hidden.columns !== inputSize) {
    const { label: name, rows, columns } = hidden;
    throw new RangeError(`${label}: ${name} is [${rows}, ${columns}], and the link takes rows of ${inputSize}`);
  }
}

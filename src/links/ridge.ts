/**
 * The closed-form counterpart of the inner loop: the matrix W that takes hidden states to embeddings with the least
 * square error, W = (H^T H + lambda n I)^-1 H^T E. Pairs come in blocks and are not kept. Everything is f64 on the CPU.
 */
import { CholeskyDecomposition, Matrix, QrDecomposition } from "ml-matrix";
import { Random } from "../random/random";
import { LinkError } from "./linkConfig";

/** As the released trainer's ridge initialisation: 1e-4 of the number of pairs. */
export const DEFAULT_LAMBDA = 1e-4;

export class RidgeFit {
  /** Pairs so far. */
  count = 0;
  /** Sums over the pairs of h h^T [inputSize, inputSize], its lower half, and of e h^T [outputSize, inputSize]. */
  private readonly inputs: Float64Array;
  private readonly products: Float64Array;

  constructor(
    readonly inputSize: number,
    readonly outputSize: number,
  ) {
    this.inputs = new Float64Array(inputSize * inputSize);
    this.products = new Float64Array(outputSize * inputSize);
  }

  /**
   * Adds pairs: for an inner link the hidden state at t and the embedding of token t + 1, for an outer link what stands
   * for the same thing in both agents, the embeddings of a token for instance.
   * @param hidden [n, inputSize]
   * @param targets [n, outputSize]
   * @throws LinkError when the counts do not fit or a value is not finite; nothing is added then
   */
  add(hidden: ArrayLike<number>, targets: ArrayLike<number>): void {
    const { inputSize, outputSize, inputs, products } = this;
    const rows = hidden.length / inputSize;
    if (!Number.isInteger(rows) || targets.length !== rows * outputSize) {
      throw new LinkError(
        `ridge fit: ${hidden.length} values in rows of ${inputSize} and ${targets.length} in rows of ${outputSize} ` +
          "make no pairs",
      );
    }
    // A NaN would end up in every element of the solution.
    checkFinite("hidden states", hidden);
    checkFinite("targets", targets);
    for (let row = 0; row < rows; row++) {
      const h = row * inputSize;
      for (let i = 0; i < inputSize; i++) {
        const value = hidden[h + i] as number;
        for (let j = 0; j <= i; j++) inputs[i * inputSize + j]! += value * (hidden[h + j] as number);
      }
      for (let o = 0; o < outputSize; o++) {
        const value = targets[row * outputSize + o] as number;
        for (let i = 0; i < inputSize; i++) products[o * inputSize + i]! += value * (hidden[h + i] as number);
      }
    }
    this.count += rows;
  }

  /**
   * @param lambda weight of the penalty on the matrix, for each pair
   * @returns [outputSize, inputSize], as weights of linear layers are stored
   * @throws LinkError without pairs, or when they do not determine a matrix (lambda 0 and too few of them)
   */
  solve(lambda = DEFAULT_LAMBDA): Float64Array {
    const { inputSize, outputSize, count } = this;
    if (count === 0) throw new LinkError("ridge fit: there are no pairs");
    if (!(lambda >= 0 && Number.isFinite(lambda))) throw new LinkError(`ridge fit: lambda is ${lambda}`);
    const gram = new Matrix(inputSize, inputSize);
    for (let i = 0; i < inputSize; i++) {
      for (let j = 0; j <= i; j++) {
        const value = (this.inputs[i * inputSize + j] as number) + (i === j ? lambda * count : 0);
        gram.set(i, j, value);
        gram.set(j, i, value);
      }
    }
    const cholesky = new CholeskyDecomposition(gram);
    if (!cholesky.isPositiveDefinite()) {
      throw new LinkError(
        `ridge fit: ${count} pairs determine no matrix of ${inputSize} inputs at lambda ${lambda}: ` +
          "give more pairs or a larger lambda",
      );
    }
    const right = Matrix.from1DArray(outputSize, inputSize, this.products).transpose();
    const solution = cholesky.solve(right).transpose();
    return Float64Array.from(solution.to1DArray());
  }
}

function checkFinite(what: string, values: ArrayLike<number>): void {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) throw new LinkError(`ridge fit: the ${what} have a value of ${values[i]}`);
  }
}

/** Stream of the generator that draws projections. */
const PROJECTION_STREAM = 0x9a0;

/**
 * A random matrix [outputSize, inputSize] with orthonormal columns, or rows where it has fewer of them: the least
 * arbitrary map between agents of different widths. It keeps lengths when it widens, and angles all but.
 */
export function orthonormalProjection(inputSize: number, outputSize: number, seed: number): Float64Array {
  const random = new Random(seed, PROJECTION_STREAM);
  const [long, short] = inputSize > outputSize ? [inputSize, outputSize] : [outputSize, inputSize];
  const gaussian = Matrix.from1DArray(
    long,
    short,
    Float64Array.from({ length: long * short }, () => random.normal()),
  );
  const columns = new QrDecomposition(gaussian).orthogonalMatrix;
  const matrix = outputSize === long ? columns : columns.transpose();
  return Float64Array.from(matrix.to1DArray());
}

/** The identity where it reaches: the first elements are handed on, the rest is zero or left out. */
export function paddingProjection(inputSize: number, outputSize: number): Float64Array {
  const matrix = new Float64Array(outputSize * inputSize);
  for (let i = 0; i < Math.min(inputSize, outputSize); i++) matrix[i * inputSize + i] = 1;
  return matrix;
}

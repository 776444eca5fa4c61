/** Products of a few vectors with all rows of an embedding, in plain arrays, for models that are not on the tape. */
import type { LanguageModel } from "../model/languageModel";

/** Numbers of the table that are looked up at a time: 8 MiB, which caches hold better than all of it. */
const LOOKED_UP = 2 * 2 ** 20;

/**
 * @param vectors [n, hiddenSize]
 * @returns for each vector its products with the embeddings of all tokens, [vocabSize]
 */
export async function embeddingProducts(language: LanguageModel, vectors: Float32Array): Promise<Float32Array[]> {
  const { hiddenSize, vocabSize } = language.config;
  const rows = vectors.length / hiddenSize;
  const found = Array.from({ length: rows }, () => new Float32Array(vocabSize));
  // In f64, as sums are taken: the inner loop converts the table only.
  const wide = Array.from({ length: rows }, (_, row) =>
    Float64Array.from(vectors.subarray(row * hiddenSize, (row + 1) * hiddenSize)),
  );
  const perLook = Math.max(1, Math.floor(LOOKED_UP / hiddenSize));
  for (let start = 0; start < vocabSize; start += perLook) {
    const count = Math.min(perLook, vocabSize - start);
    const table = await language.embed(Array.from({ length: count }, (_, i) => start + i));
    for (let row = 0; row < rows; row += 2) {
      // An odd one out goes with itself.
      const other = Math.min(row + 1, rows - 1);
      pairProducts(wide[row]!, wide[other]!, table, found[row]!, found[other]!, start);
    }
  }
  return found;
}

/**
 * Two vectors and four rows of the table at a time: eight sums for six numbers that are read. Each sum is taken in order,
 * so that blocks change nothing in it.
 * @param from where the products of the table's first row go
 */
function pairProducts(
  a: Float64Array,
  b: Float64Array,
  table: Float32Array,
  foundA: Float32Array,
  foundB: Float32Array,
  from: number,
): void {
  const width = a.length;
  const rows = table.length / width;
  const rowOf = (row: number) => table.subarray(row * width, (row + 1) * width);
  for (let row = 0; row < rows; row += 4) {
    const last = rows - 1;
    const r0 = rowOf(row);
    const r1 = rowOf(Math.min(row + 1, last));
    const r2 = rowOf(Math.min(row + 2, last));
    const r3 = rowOf(Math.min(row + 3, last));
    let [a0, a1, a2, a3, b0, b1, b2, b3] = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let i = 0; i < width; i++) {
      const x = a[i]!;
      const y = b[i]!;
      const w0 = r0[i]!;
      const w1 = r1[i]!;
      const w2 = r2[i]!;
      const w3 = r3[i]!;
      a0 += x * w0;
      a1 += x * w1;
      a2 += x * w2;
      a3 += x * w3;
      b0 += y * w0;
      b1 += y * w1;
      b2 += y * w2;
      b3 += y * w3;
    }
    const at = from + row;
    const count = Math.min(4, rows - row);
    foundA.set(count === 4 ? [a0, a1, a2, a3] : [a0, a1, a2, a3].slice(0, count), at);
    foundB.set(count === 4 ? [b0, b1, b2, b3] : [b0, b1, b2, b3].slice(0, count), at);
  }
}

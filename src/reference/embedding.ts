/** Rows of the embedding table. */

/**
 * @param ids T token ids
 * @param table [vocabSize, hiddenSize]
 * @returns [T, hiddenSize]
 * @throws RangeError for an id outside the vocabulary.
 */
export function embedding(ids: ArrayLike<number>, table: Float64Array, hiddenSize: number): Float64Array {
  const vocabSize = table.length / hiddenSize;
  const rows = new Float64Array(ids.length * hiddenSize);
  for (let t = 0; t < ids.length; t++) {
    const id = ids[t]!;
    if (!Number.isInteger(id) || id < 0 || id >= vocabSize) {
      throw new RangeError(`token id ${id} is outside the vocabulary of ${vocabSize}`);
    }
    rows.set(table.subarray(id * hiddenSize, (id + 1) * hiddenSize), t * hiddenSize);
  }
  return rows;
}

/** Gradient of `embedding` by the table, [vocabSize, hiddenSize]. @param dRows [T, hiddenSize] */
export function embeddingBackward(
  dRows: Float64Array,
  ids: ArrayLike<number>,
  vocabSize: number,
  hiddenSize: number,
): Float64Array {
  const dTable = new Float64Array(vocabSize * hiddenSize);
  for (let t = 0; t < ids.length; t++) {
    for (let i = 0; i < hiddenSize; i++) dTable[ids[t]! * hiddenSize + i]! += dRows[t * hiddenSize + i]!;
  }
  return dTable;
}

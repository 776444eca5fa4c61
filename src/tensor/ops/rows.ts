/** Rows and columns taken apart and put together: gather, embedding, slices, concatenation, heads. */
import { kernel } from "../shaders";
import type { Integers } from "../tape";
import { padded, type Tensor } from "../tensor";

/**
 * Rows `ids` of a table: embeddings of tokens, or chosen rows of any tensor. Ids may repeat.
 * @param table [V, C], or consecutive parts of one that is too large for one buffer; frozen parts may be bf16 or f16
 * @returns [ids, C]
 * @throws RangeError for an id outside the table
 */
export function gatherRows(table: Tensor | readonly Tensor[], ids: Integers): Tensor {
  const parts = Array.isArray(table) ? (table as readonly Tensor[]) : [table as Tensor];
  const first = parts[0] as Tensor;
  const { tape, columns } = first;
  const { queue } = tape;
  const tableRows = parts.reduce((sum, { rows }) => sum + rows, 0);
  const unknown = ids.values.find((id) => id >= tableRows);
  if (unknown !== undefined) {
    throw new RangeError(`gatherRows: row ${unknown} is outside ${first.label} of ${tableRows} rows`);
  }
  const rows = ids.length;
  const width4 = padded(columns) / 4;
  const output = tape.empty(`rows of ${first.label}`, rows, columns, tape.needsGrad(...parts));
  const starts = startsOf(parts);
  parts.forEach((part, i) => {
    queue.dispatch(
      kernel("gather", "forward", { weights: part.dtype }),
      [queue.uniform([rows, width4, starts[i] as number, part.rows, 0]), ids.buffer, part.buffer, output.buffer],
      Math.ceil((rows * width4) / 64),
    );
  });
  tape.record([output], [ids], (savedIds) => {
    const sorted = sortByRow(savedIds.values, tableRows);
    const sortedStarts = tape.integers(sorted.starts, "starts of table rows");
    const order = tape.integers(sorted.order, "rows by id");
    parts.forEach((part, i) => {
      const target = tape.gradTarget(part);
      if (!target) return;
      const shape = [rows, width4, starts[i] as number, part.rows, target.accumulates];
      queue.dispatch(
        kernel("gather", "backward_input", { weights: "F32" }),
        [queue.uniform(shape), sortedStarts.buffer, order.buffer, (output.grad as Tensor).buffer, target.buffer],
        Math.ceil((part.rows * width4) / 64),
      );
    });
  });
  return output;
}

/** First row of each of consecutive parts. */
export function startsOf(parts: readonly Tensor[]): number[] {
  let start = 0;
  return parts.map(({ rows }) => {
    start += rows;
    return start - rows;
  });
}

/** Counting sort: places of each table row in `ids`, one row after the other. */
function sortByRow(ids: Uint32Array, tableRows: number): { starts: Uint32Array; order: Uint32Array } {
  const starts = new Uint32Array(tableRows + 1);
  for (const id of ids) starts[id + 1]!++;
  for (let row = 0; row < tableRows; row++) starts[row + 1]! += starts[row] as number;
  const next = starts.slice();
  const order = new Uint32Array(Math.max(1, ids.length));
  ids.forEach((id, place) => {
    order[next[id]!++] = place;
  });
  return { starts, order };
}

/** Rows [start, start + count) of x. */
export function sliceRows(x: Tensor, start: number, count: number): Tensor {
  const { tape } = x;
  if (!(start >= 0 && count >= 1 && start + count <= x.rows)) {
    throw new RangeError(`sliceRows: rows ${start} to ${start + count} of ${x.label}, which has ${x.rows}`);
  }
  const output = tape.empty(`rows of ${x.label}`, count, x.columns, tape.needsGrad(x));
  copyRows(x, start, output.buffer, 0, count, 0);
  tape.record([output], [], () => {
    const target = tape.partialGradTarget(x);
    if (target) copyRows(output.grad as Tensor, 0, target, start, count, 1);
  });
  return output;
}

/** Tensors of one width one below the other. */
export function concatRows(tensors: readonly Tensor[]): Tensor {
  const first = tensors[0];
  if (!first) throw new RangeError("concatRows: no tensors");
  const { tape, columns } = first;
  const odd = tensors.find((tensor) => tensor.columns !== columns);
  if (odd) throw new RangeError(`concatRows: ${odd.label} has ${odd.columns} columns, ${first.label} has ${columns}`);
  const rows = tensors.reduce((sum, tensor) => sum + tensor.rows, 0);
  const output = tape.empty("concatenated rows", rows, columns, tape.needsGrad(...tensors));
  const starts = startsOf(tensors);
  tensors.forEach((tensor, i) => {
    copyRows(tensor, 0, output.buffer, starts[i] as number, tensor.rows, 0);
  });
  tape.record([output], [], () => {
    tensors.forEach((tensor, i) => {
      const target = tape.gradTarget(tensor);
      if (target) {
        copyRows(output.grad as Tensor, starts[i] as number, target.buffer, 0, tensor.rows, target.accumulates);
      }
    });
  });
  return output;
}

function copyRows(x: Tensor, from: number, target: GPUBuffer, to: number, count: number, accumulates: 0 | 1): void {
  const { queue } = x.tape;
  const pitch4 = x.pitch / 4;
  queue.dispatch(
    kernel("copyRows", "forward"),
    [queue.uniform([count * pitch4, from * pitch4, to * pitch4, accumulates]), x.buffer, target],
    Math.ceil((count * pitch4) / 64),
  );
}

/**
 * The heads of every row side by side, each padded to a multiple of 4: what weights with padded groups expect. No copy.
 * @param x [R * heads, headDim]
 * @returns [R, heads * padded(headDim)]
 */
export function joinHeads(x: Tensor, heads: number): Tensor {
  const { tape } = x;
  if (x.rows % heads !== 0) throw new RangeError(`joinHeads: ${x.rows} rows of ${x.label} are no whole ${heads} heads`);
  const output = x.alias(x.rows / heads, heads * x.pitch, tape.needsGrad(x));
  tape.record([output], [], () => tape.addGrad(x, output.grad as Tensor));
  return output;
}

/**
 * The reverse of `joinHeads`: each of the heads that stand side by side as a row of its own. No copy.
 * @param x [R, heads * padded(headDim)]
 * @returns [R * heads, headDim]
 */
export function splitHeads(x: Tensor, heads: number, headDim: number): Tensor {
  const { tape } = x;
  if (x.columns !== heads * padded(headDim)) {
    throw new RangeError(`splitHeads: ${x.columns} columns of ${x.label} are no ${heads} heads of ${headDim}`);
  }
  const output = x.alias(x.rows * heads, headDim, tape.needsGrad(x));
  tape.record([output], [], () => tape.addGrad(x, output.grad as Tensor));
  return output;
}

/** Two axes for vectors of many numbers, by principal components. Once fitted they are kept: dots then stand still. */
import { PCA } from "ml-pca";

export interface MapAxes {
  mean: readonly number[];
  /** Unit vectors. */
  first: readonly number[];
  second: readonly number[];
  /** Shares of the variance of what the axes were fitted on. */
  explained: readonly [number, number];
  /** Rows that they were fitted on. */
  rows: number;
}

/** More rows make the fit slower, and hardly another one. */
const MOST_ROWS = 800;

/**
 * Signs are fixed by the largest loading, so that the same rows always give the same picture.
 * @returns undefined for fewer than three rows or fewer than two columns
 */
export function fitAxes(rows: readonly ArrayLike<number>[]): MapAxes | undefined {
  const size = rows[0]?.length ?? 0;
  if (rows.length < 3 || size < 2) return undefined;
  const stride = Math.max(1, Math.ceil(rows.length / MOST_ROWS));
  const used = rows.filter((_, i) => i % stride === 0).map((row) => Array.from(row));
  const pca = new PCA(used, { method: "SVD", center: true, scale: false });
  const [first, second] = pca.getLoadings().to2DArray().slice(0, 2).map(signed);
  const [a, b] = pca.getExplainedVariance();
  if (!first || !second || a === undefined || b === undefined) return undefined;
  const mean = Array.from(
    { length: size },
    (_, i) => used.reduce((sum, row) => sum + (row[i] as number), 0) / used.length,
  );
  return { mean, first, second, explained: [a, b], rows: used.length };
}

function signed(axis: readonly number[]): number[] {
  const largest = axis.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0);
  return axis.map((value) => (largest < 0 ? -value : value));
}

export function project({ mean, first, second }: MapAxes, vector: ArrayLike<number>): { x: number; y: number } {
  let [x, y] = [0, 0];
  for (let i = 0; i < vector.length; i++) {
    const value = (vector[i] as number) - (mean[i] as number);
    x += value * (first[i] as number);
    y += value * (second[i] as number);
  }
  return { x, y };
}

/** The square that holds the points, with a little air. */
export function extentOf(points: readonly { x: number; y: number }[]): { x: number; y: number; radius: number } {
  const ends = (values: number[]) => [Math.min(...values), Math.max(...values)] as const;
  if (points.length === 0) return { x: 0, y: 0, radius: 1 };
  const [left, right] = ends(points.map(({ x }) => x));
  const [bottom, top] = ends(points.map(({ y }) => y));
  const radius = Math.max(right - left, top - bottom) / 2 || 1;
  return { x: (left + right) / 2, y: (bottom + top) / 2, radius: radius * 1.06 };
}

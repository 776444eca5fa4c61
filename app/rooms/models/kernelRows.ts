/** The cases of the self-test, one row a kernel: its worst errors, and the sizes at which it failed. */
import type { KernelTestCase } from "../../../src/worker/deviceProtocol";

export interface KernelRow {
  kernel: string;
  /** How many were tried. */
  sizes: number;
  forward: number;
  backward?: number;
  /** The largest, where formats differ. */
  tolerance: number;
  failed: string[];
  milliseconds: number;
}

export function kernelRows(cases: readonly KernelTestCase[], path: KernelTestCase["path"]): KernelRow[] {
  const rows = new Map<string, KernelRow>();
  for (const own of cases.filter((other) => other.path === path)) {
    const { kernel, size, forward, backward, tolerance, passed, milliseconds } = own;
    const row = rows.get(kernel) ?? { kernel, sizes: 0, forward: 0, tolerance: 0, failed: [], milliseconds: 0 };
    row.sizes++;
    row.forward = Math.max(row.forward, forward);
    if (backward !== undefined) row.backward = Math.max(row.backward ?? 0, backward);
    row.tolerance = Math.max(row.tolerance, tolerance);
    row.milliseconds += milliseconds;
    if (!passed) row.failed.push(size);
    rows.set(kernel, row);
  }
  return [...rows.values()];
}

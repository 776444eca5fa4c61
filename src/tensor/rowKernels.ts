/** How kernels are laid out: many invocations a row on a GPU, one where barriers are slow; by subgroups where it pays. */
import type { Gpu } from "../gpu/device";

export function rowLanes(gpu: Gpu): { LANES: number; ROWS: number } {
  return gpu.isSoftware ? { LANES: 1, ROWS: 8 } : { LANES: 64, ROWS: 1 };
}

/** Invocations of a reduction down the columns: side by side, and one above the other. */
export function columnLanes(gpu: Gpu): { columns: number; lanes: number } {
  return gpu.isSoftware ? { columns: 32, lanes: 1 } : { columns: 8, lanes: 16 };
}

/** Rows of a tile that shaders/matmulSubgroup.wgsl is built for, fewest first: what a tile has too many is computed in vain. */
export const SUBGROUP_PRODUCT_ROWS = [1, 4, 8, 16] as const;

/** The size of subgroups where the kernels that hand loads around are the faster ones: on software devices. */
export function fixedSubgroup(gpu: Gpu): number | undefined {
  return gpu.isSoftware && (gpu.subgroupSize === 4 || gpu.subgroupSize === 8) ? gpu.subgroupSize : undefined;
}

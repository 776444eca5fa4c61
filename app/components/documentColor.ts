/**
 * The colour by which a document of a tool's result is known wherever it appears. All reach 4.5:1 under white text and
 * stay clear of the three lane colours.
 */
const COLORS = [
  "#6d55b8",
  "#b83a6b",
  "#56697d",
  "#a8482f",
  "#66701f",
  "#8a3f94",
  "#1f7683",
  "#7a5a3d",
  "#3f4fa8",
  "#8e2c45",
] as const;

export function documentColor(index: number): string {
  return COLORS[index % COLORS.length]!;
}

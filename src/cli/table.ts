/** Plain-text tables for people; `--json` is for programs. */

/** Rows under a heading, columns aligned: the first to the left, numbers to the right. */
export function table(heading: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [heading, ...rows].map((row) => row.map(String));
  const widths = heading.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? "").length)));
  const right = heading.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number"));
  return lines
    .map((line) =>
      line
        .map((cell, column) => (right[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

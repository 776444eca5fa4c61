/**
 * How an agent is known wherever it appears: a hue, whose lightness tells the round, and a shape. The hues stay clear of
 * the colours of the two systems and their tools.
 */

/** Degrees in OKLCH. */
const HUES = [5, 275, 200, 110, 325, 240] as const;

/** Contrast to the page grows from round to round, at least 3:1 from the first on. */
const LIGHTNESS = { light: [0.68, 0.45], dark: [0.55, 0.88] } as const;

/** @param share how far the round is into the run, 0 to 1 */
export function agentColor(agent: number, share: number, dark: boolean): string {
  const [from, to] = LIGHTNESS[dark ? "dark" : "light"];
  return `oklch(${(from + (to - from) * share).toFixed(3)} 0.16 ${HUES[agent % HUES.length]})`;
}

/** How far a round is into a run; the only round counts as the last one. */
export function roundShare(round: number, rounds: number): number {
  return rounds > 1 ? (round - 1) / (rounds - 1) : 1;
}

/** Outlines of about radius 1 round the origin, as SVG paths. */
const SHAPES = [
  "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z",
  "M-.88-.88H.88V.88H-.88Z",
  "M0-1.15L1.12.82H-1.12Z",
  "M0-1.25L1.25 0L0 1.25L-1.25 0Z",
  "M-.55-1.05H.55L1.1 0L.55 1.05H-.55L-1.1 0Z",
  "M0-1.1L1.08-.34L.67.95H-.67L-1.08-.34Z",
] as const;

export function agentShape(agent: number): string {
  return SHAPES[agent % SHAPES.length] as string;
}

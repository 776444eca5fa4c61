/** What a vector is called in every picture. */
import type { LatentVector } from "../../engine/latents";

/** "planner 1.3": the third thought of round 1; "planner → critic 1.3": the third vector of a message. */
export function vectorLabel({ kind, agent, reader, round, step }: LatentVector, roles: readonly string[]): string {
  const who = kind === "message" ? `${roles[agent]} → ${roles[reader]}` : `${roles[agent]}`;
  return `${who} ${round}.${step + 1}`;
}

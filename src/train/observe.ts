/** What is read back of a step beside its loss: gradient norms by link and by round, the cosine of the inner stage. */
import type { Tape } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import type { NamedLink, RecordedStep } from "./stage";

/** Numbers of a step's event. */
export interface Observations {
  cosine?: number;
  /** Norm of d loss / d message by round of the message. */
  roundGradientNorms?: number[];
}

/** After `Tape.backward`: tensors whose norms are wanted, and what these norms mean. */
export function observe({ cosineDistance, messages }: RecordedStep): {
  tensors: Tensor[];
  observed: (norms: readonly number[]) => Observations;
} {
  const gradients = (messages ?? []).flatMap((ofRound, round) =>
    ofRound.flatMap(({ grad }) => (grad ? [{ round, grad }] : [])),
  );
  const tensors = gradients.map(({ grad }) => grad);
  // It is never negative, and so its own norm.
  if (cosineDistance) tensors.push(cosineDistance);
  return {
    tensors,
    observed: (norms) => {
      const found: Observations = {};
      if (messages) {
        const byRound = messages.map(() => 0);
        gradients.forEach(({ round }, i) => {
          byRound[round] = Math.hypot(byRound[round] as number, norms[i] as number);
        });
        found.roundGradientNorms = byRound;
      }
      if (cosineDistance) found.cosine = 1 - (norms[gradients.length] as number);
      return found;
    },
  };
}

/** Norms of the links' gradients out of those of their parameters, which come link by link. */
export function linkNorms(links: readonly NamedLink[], norms: readonly number[]): Record<string, number> {
  let next = 0;
  return Object.fromEntries(
    links.map(({ name, link }) => {
      const own = link.parameters.map(() => norms[next++] as number);
      return [name, Math.hypot(...own)];
    }),
  );
}

/** A loss without gradients. @param compute gives [1, 1] @throws as `Tape.flush` */
export async function readLoss(tape: Tape, compute: () => Tensor): Promise<number> {
  const loss = tape.noGrad(() => tape.scope(compute));
  try {
    return await loss.item();
  } finally {
    loss.dispose();
  }
}

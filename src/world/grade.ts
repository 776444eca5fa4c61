/** Graders of answers, as in the SQuAD evaluation: exact match and token F1 after normalisation. */

/** Lower case, no punctuation, no articles, single spaces. */
export function normalizeAnswer(answer: string): string {
  return answer
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s]/gu, " ")
    .replace(/\b(a|an|the)\b/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Whether the answer equals one of the accepted answers after normalisation. */
export function exactMatch(answer: string, gold: readonly string[]): boolean {
  const normalized = normalizeAnswer(answer);
  return gold.some((accepted) => normalizeAnswer(accepted) === normalized);
}

/** Best harmonic mean of token precision and recall over the accepted answers, in [0, 1]. */
export function tokenF1(answer: string, gold: readonly string[]): number {
  return Math.max(0, ...gold.map((accepted) => pairF1(normalizeAnswer(answer), normalizeAnswer(accepted))));
}

function pairF1(answer: string, accepted: string): number {
  const answerTokens = answer.split(" ").filter(Boolean);
  const acceptedTokens = accepted.split(" ").filter(Boolean);
  if (answerTokens.length === 0 || acceptedTokens.length === 0)
    return answerTokens.length === acceptedTokens.length ? 1 : 0;
  const left = [...acceptedTokens];
  let shared = 0;
  for (const token of answerTokens) {
    const at = left.indexOf(token);
    if (at < 0) continue;
    left.splice(at, 1);
    shared++;
  }
  if (shared === 0) return 0;
  const precision = shared / answerTokens.length;
  const recall = shared / acceptedTokens.length;
  return (2 * precision * recall) / (precision + recall);
}

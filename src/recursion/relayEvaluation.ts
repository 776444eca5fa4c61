/** Which questions of relay an evaluation asks: seeds below those of training and of its held-out looks. */
import { randomU32 } from "../random/random";
import { RELAY_TRAINING_SEEDS } from "../world/relay";
import { type RelayRecursionQuestion, type RelayTaskOptions, relayQuestion } from "./relayTask";

/** Seeds of questions that are reported on are smaller; training looks at those from here on. */
export const RELAY_EVALUATION_END = 900_000;
const EVALUATION_STREAM = 0xe7a1;
const FIT_STREAM = 0xf17;

/** `count` questions for an evaluation's seed, all different. */
export function relayEvaluationQuestions(
  seed: number,
  count: number,
  options: RelayTaskOptions,
): RelayRecursionQuestion[] {
  const seeds = new Set<number>();
  for (let draw = 0; seeds.size < count; draw++)
    seeds.add(randomU32(seed, EVALUATION_STREAM, draw) % RELAY_EVALUATION_END);
  return Array.from(seeds, (own) => relayQuestion(own, options));
}

/** Questions of training, that untrained links may be fitted on. */
export function relayFitQuestions(seed: number, count: number, options: RelayTaskOptions): RelayRecursionQuestion[] {
  const range = 2 ** 32 - RELAY_TRAINING_SEEDS;
  return Array.from({ length: count }, (_, i) => {
    return relayQuestion(RELAY_TRAINING_SEEDS + (randomU32(seed, FIT_STREAM, i) % range), options);
  });
}

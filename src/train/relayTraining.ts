/** Relay as something to train on: how a run's settings turn seeds into questions. */
import { Random } from "../random/random";
import type { Pattern } from "../recursion/pattern";
import { relayQuestion } from "../recursion/relayTask";
import type { TrainingSettings } from "./settings";
import type { TrainingTask } from "./stage";

const MIX_STREAM = 0x4d1;

/** For `LinkTrainerOptions.task`: hops and deals of each question are drawn from the settings' by its seed. */
export function relayTraining(pattern: Pattern) {
  return ({
    hops,
    deals,
    factsPerAgent,
  }: Pick<TrainingSettings, "hops" | "deals" | "factsPerAgent">): TrainingTask => ({
    name: "relay",
    question(seed) {
      const random = new Random(seed, MIX_STREAM);
      return relayQuestion(seed, { pattern, hops: random.pick(hops), deal: random.pick(deals), factsPerAgent });
    },
  });
}

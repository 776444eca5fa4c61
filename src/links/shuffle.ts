/** The shuffled baseline: every question of a batch gets the message that was meant for another one. */
import { Random } from "../random/random";

const SHUFFLE_STREAM = 0x5af;

/**
 * A permutation without fixed points, each alike likely: message i goes to question `result[i]`, which is never i.
 * @param count messages of the batch
 * @throws RangeError for fewer than two messages
 */
export function shuffleMessages(count: number, seed: number): number[] {
  if (!(Number.isInteger(count) && count >= 2)) {
    throw new RangeError(`shuffleMessages: ${count} messages cannot all change places`);
  }
  const random = new Random(seed, SHUFFLE_STREAM);
  const places = Array.from({ length: count }, (_, i) => i);
  // Draws until nothing stays in place: one permutation in e does, whatever the count.
  for (;;) {
    const shuffled = random.shuffle(places);
    if (shuffled.every((place, i) => place !== i)) return shuffled;
  }
}

/** Articles about entities: from one sentence to several hundred tokens, facts among sentences that only distract. */
import { Random } from "../random/random";
import type { Entity, Fact } from "./entities";
import { DISTRACTORS, FILLERS } from "./schema";
import type { WorldDocument } from "./types";

/** The sentence that states a fact in this article; the same draw as in the article of the same seed. */
function stateFact(random: Random, subject: string, fact: Fact): string {
  return random.pick(fact.relation.statements).replaceAll("{s}", subject).replaceAll("{o}", fact.object);
}

export interface Article extends WorldDocument {
  /** The sentence that states each stated fact, by relation name. */
  statements: ReadonlyMap<string, string>;
}

/** `stream` separates the articles of a world; `entities` are those that distractors may mention. */
export function writeArticle(entity: Entity, entities: readonly Entity[], seed: number, stream: number): Article {
  const random = new Random(seed, stream);
  const statements = new Map<string, string>();
  for (const fact of entity.facts) {
    if (fact.stated) statements.set(fact.relation.name, stateFact(random, entity.name, fact));
  }
  const sentences = [...statements.values()];
  const size = random.uniform();
  // A sixth are bare, a few long; the rest carry some sentences beside their facts.
  const extras = size < 0.16 ? 0 : size < 0.94 ? 1 + random.int(3) : 8 + random.int(17);
  if (extras > 0) sentences.push(introduce(random, entity));
  for (let i = 1; i < extras; i++)
    sentences.push(random.chance(0.6) ? distract(random, entity, entities) : pad(random, entity));
  return { id: entity.id, title: entity.name, text: random.shuffle([...new Set(sentences)]).join(" "), statements };
}

function introduce(random: Random, entity: Entity): string {
  return random.pick(entity.kind.introductions).replaceAll("{s}", entity.name);
}

function distract(random: Random, entity: Entity, entities: readonly Entity[]): string {
  // Mentions of namesakes and of the article's own neighbours are the ones that can mislead.
  const sameKind = entities.filter((other) => other.kind === entity.kind && other !== entity);
  const other = random.pick(random.chance(0.5) ? sameKind : entities);
  return random.pick(DISTRACTORS).replaceAll("{s}", entity.name).replaceAll("{x}", other.name);
}

function pad(random: Random, entity: Entity): string {
  return random.pick(FILLERS).replaceAll("{s}", entity.name);
}

/** The entities of a world with their names and facts. */
import { Random } from "../random/random";
import { inventFirstName, inventNearWord, inventWord } from "./names";
import type { CorpusSchema, KindSchema, RelationSchema } from "./schema";

export interface Fact {
  relation: RelationSchema;
  /** The object's name, or a year. */
  object: string;
  /** The object as an entity; undefined for years. */
  entity?: Entity;
  /** Whether the article states it; facts that it does not state are never asked for. */
  stated: boolean;
}

export interface Entity {
  id: string;
  kind: KindSchema;
  name: string;
  facts: Fact[];
}

/** Share of entities whose name is made to resemble an earlier one of the same kind. */
const NEAR_NAMESAKES = 0.3;
/** Share of facts that an article leaves out. */
const UNSTATED = 0.12;

/** `perKind` entities of every kind of the schema, facts drawn among them. */
export function makeEntities(schema: CorpusSchema, seed: number, perKind: number): Entity[] {
  const random = new Random(seed, 1);
  const taken = new Set<string>();
  const entities: Entity[] = [];
  for (const kind of schema.kinds) {
    const words: string[] = [];
    for (let index = 0; index < perKind; index++) {
      const { word, name } = inventName(random, kind, words, taken);
      words.push(word);
      taken.add(name);
      entities.push({ id: `${kind.kind}-${index + 1}`, kind, name, facts: [] });
    }
  }
  for (const entity of entities) {
    entity.facts = entity.kind.relations.map((relation) => drawFact(random, relation, entity, entities));
  }
  return entities;
}

function inventName(random: Random, kind: KindSchema, earlier: readonly string[], taken: ReadonlySet<string>) {
  for (;;) {
    let word = inventWord(random);
    if (earlier.length > 0 && random.chance(NEAR_NAMESAKES)) {
      const model = random.pick(earlier);
      // Half of the namesakes share the whole word and differ in the first name or kind word.
      word =
        random.chance(0.5) && (kind.prefixes.length > 1 || kind.kind === "person")
          ? model
          : inventNearWord(random, model);
    }
    const name =
      kind.kind === "person"
        ? `${inventFirstName(random)} ${word}`
        : kind.prefixes.length > 0
          ? `${random.pick(kind.prefixes)} ${word}`
          : word;
    if (!taken.has(name)) return { word, name };
  }
}

function drawFact(random: Random, relation: RelationSchema, subject: Entity, entities: readonly Entity[]): Fact {
  const stated = !random.chance(UNSTATED);
  if (relation.object === "year") return { relation, object: String(1500 + random.int(500)), stated };
  const candidates = entities.filter((entity) => entity.kind.kind === relation.object && entity !== subject);
  const entity = random.pick(candidates);
  return { relation, object: entity.name, entity, stated };
}

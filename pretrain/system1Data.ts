/**
 * Training sequences for System 1: one bin of documents, then many purposes about it, one chat turn each, so that most
 * tokens teach. The first turn has exactly the form that the dual-system loop uses.
 */
import { formatDocument, NOTHING_RELEVANT, SYSTEM1_INSTRUCTION } from "../src/dual/prompts";
import { DEFAULT_SEARCH_RESULTS, searchDocuments } from "../src/dual/tools/search";
import { pack } from "../src/packing/pack";
import type { Random } from "../src/random/random";
import type { ChatMessage } from "../src/text/tokenizer";
import type { Entity } from "../src/world/entities";
import { purposeOf } from "../src/world/questions";
import type { DetailedWorld } from "../src/world/world";

export interface BinLimits {
  /** Documents of a bin: at most this many, */
  documents: number;
  /** of at most so many tokens in all, */
  tokens: number;
  /** followed by at most so many purposes. */
  purposes: number;
  /** Share of bins that a search filled, as the loop does it. Default: none. */
  retrieved?: number;
}

/** A line of System 1: a dash, and after a space, so that names keep the tokens that they have inside a sentence. */
export function quote(sentence: string): string {
  return `- ${sentence}`;
}

/** It names the subject before it decides: a copy of the name finds out what the documents say about it. */
export function nothing(subject: string): string {
  return quote(`${subject}: ${NOTHING_RELEVANT}`);
}

interface Purpose {
  text: string;
  target: string;
}

/** How often a careless System 2 is vague: a habit with some relations, a slip with the others. */
export function vagueness(relation: string, careless: number): number {
  return careless * (relation.length % 2 === 0 ? 1.25 : 0.25);
}

/** A purpose that does not say what is wanted. */
export function vaguePurpose(subject: string): string {
  return `facts about ${subject}`;
}

/** What a careless System 1 says instead of a quote: nothing, another sentence of the article, or that one as well. */
function carelessQuote(random: Random, subject: string, statement: string, others: readonly string[]): string {
  const other = others.length > 0 ? random.pick(others) : undefined;
  if (other === undefined || random.chance(0.4)) return nothing(subject);
  return random.chance(0.6) ? quote(other) : `${quote(other)}\n${quote(statement)}`;
}

/** Shares a syllable-long start or end of its name: what a hurried reader mixes up. */
function resembles(a: Entity, b: Entity): boolean {
  if (a === b) return false;
  const [wordsA, wordsB] = [a.name.split(" "), b.name.split(" ")];
  return wordsA.some((word) =>
    wordsB.some((other) => word.slice(0, 3) === other.slice(0, 3) || word.slice(-3) === other.slice(-3)),
  );
}

interface DrawnBin {
  /** The entity that the bin is about, by index. */
  focus: number;
  /** Articles of the bin and the numbers that they bear. */
  chosen: { index: number; number: number }[];
  /** A search filled it. */
  isRetrieved?: boolean;
}

/** A bin as the loop makes them: one of those into which the documents of a search for the entity are packed. */
function retrievedBin(
  random: Random,
  world: DetailedWorld,
  count: (text: string) => number,
  tokens: number,
): DrawnBin | undefined {
  const focus = random.int(world.entities.length);
  const query = `${random.chance(0.8) ? "article" : "facts"} on ${(world.entities[focus] as Entity).name}`;
  const found = searchDocuments(world.documents, query, DEFAULT_SEARCH_RESULTS);
  const lengths = found.map((document, i) => count(formatDocument(i + 1, document)));
  const { bins, truncated } = pack(lengths, tokens, "ffd");
  const { items } = random.pick(bins);
  if (items.some((item) => truncated.includes(item))) return undefined;
  const index = (item: number) => world.documents.findIndex(({ id }) => id === found[item]?.id);
  return { focus, chosen: items.map((item) => ({ index: index(item), number: item + 1 })), isRetrieved: true };
}

/** A bin around one entity: its article (mostly), namesakes, articles that mention it, and others. */
function drawBin(random: Random, world: DetailedWorld, count: (text: string) => number, limits: BinLimits): DrawnBin {
  const focus = random.int(world.entities.length);
  const focusEntity = world.entities[focus] as Entity;
  const indices = world.entities.map((_, i) => i);
  const close = indices.filter(
    (i) =>
      resembles(focusEntity, world.entities[i] as Entity) ||
      (i !== focus && world.articles[i]?.text.includes(focusEntity.name)),
  );
  const wanted: number[] = random.chance(0.85) ? [focus] : [];
  wanted.push(...random.shuffle(close).slice(0, random.int(3)));
  if (random.chance(0.75)) {
    // Articles of one kind state the same relations: only the name decides.
    wanted.push(...random.shuffle(indices.filter((i) => world.entities[i]?.kind === focusEntity.kind)).slice(0, 3));
  }
  wanted.push(...random.shuffle(indices).slice(0, limits.documents));
  const chosen: number[] = [];
  let tokens = 0;
  const size = 1 + random.int(limits.documents);
  for (const i of new Set(wanted)) {
    if (chosen.length === size) break;
    const article = world.articles[i];
    if (!article) continue;
    const length = count(formatDocument(1, article));
    if (tokens + length > limits.tokens) continue;
    tokens += length;
    chosen.push(i);
  }
  const numbers = random.shuffle([1, 2, 3, 4, 5, 6, 7, 8]);
  return { focus, chosen: random.shuffle(chosen).map((index, i) => ({ index, number: numbers[i] as number })) };
}

function purposesOf(random: Random, world: DetailedWorld, bin: DrawnBin, careless: number): Purpose[] {
  const inside = new Set(bin.chosen.map(({ index }) => index));
  const positive: Purpose[] = [];
  const absent: Purpose[] = [];
  for (const { index } of bin.chosen) {
    const entity = world.entities[index] as Entity;
    for (const { relation } of entity.facts) {
      const text = purposeOf(relation.name, entity.name);
      const statements = world.articles[index]?.statements;
      const statement = statements?.get(relation.name);
      if (statements && statement) {
        const others = [...statements.values()].filter((other) => other !== statement);
        const isWrong = random.chance(careless * 0.35);
        positive.push({
          text: random.chance(careless * 0.4) ? vaguePurpose(entity.name) : text,
          target: isWrong ? carelessQuote(random, entity.name, statement, others) : quote(statement),
        });
      } else absent.push({ text, target: nothing(entity.name) });
    }
    // A relation of another kind of entity is never stated.
    const other = random.pick(random.pick(world.entities).kind.relations);
    if (!entity.kind.relations.some(({ name }) => name === other.name)) {
      absent.push({ text: purposeOf(other.name, entity.name), target: nothing(entity.name) });
    }
  }
  // Entities without an article here: the focus, namesakes of what is here, and whatever the articles mention.
  const text = bin.chosen.map(({ index }) => world.articles[index]?.text).join(" ");
  const outside = world.entities.filter((_, i) => !inside.has(i));
  const misleading = outside.filter(
    (entity, i) =>
      text.includes(entity.name) ||
      (i % 3 === 0 && bin.chosen.some(({ index }) => resembles(entity, world.entities[index] as Entity))),
  );
  const missing = [...random.shuffle(misleading).slice(0, 6), random.pick(outside)];
  const stated = new Set(bin.chosen.flatMap(({ index }) => [...(world.articles[index]?.statements.keys() ?? [])]));
  const absentOf = ({ name, kind }: Entity): Purpose => {
    // Mostly a relation that another article of the bin states: then only the name decides.
    const relations = kind.relations.filter((relation) => stated.has(relation.name));
    const relation = random.pick(relations.length > 0 && random.chance(0.8) ? relations : kind.relations);
    return { text: purposeOf(relation.name, name), target: nothing(name) };
  };
  for (const entity of missing) absent.push(absentOf(entity));
  const chosen = random.shuffle(absent).slice(0, Math.max(1, Math.round(positive.length * 0.6)));
  const purposes = random.shuffle([...positive, ...chosen]);
  if (!bin.isRetrieved) return purposes;
  // The loop asks for one thing of the entity that was searched for.
  const { name } = world.entities[bin.focus] as Entity;
  const own = purposes.filter(({ text }) => text.endsWith(name));
  const asked = inside.has(bin.focus) ? own.slice(0, 1) : [absentOf(world.entities[bin.focus] as Entity)];
  const rest = purposes.filter((purpose) => !asked.includes(purpose));
  return [...asked, ...rest];
}

/** The turns of one sequence. `careless`: how often its habits are bad ones, from 0 to 1. */
export function system1Sequence(
  random: Random,
  world: DetailedWorld,
  count: (text: string) => number,
  limits: BinLimits,
  careless = 0,
): ChatMessage[] {
  const isRetrieved = random.chance(limits.retrieved ?? 0);
  const found = isRetrieved ? retrievedBin(random, world, count, limits.tokens) : undefined;
  const bin = found ?? drawBin(random, world, count, limits);
  const documents = bin.chosen.map(({ index, number }) =>
    formatDocument(number, world.documents[index] as { title: string; text: string }),
  );
  const messages: ChatMessage[] = [{ role: "system", content: SYSTEM1_INSTRUCTION }];
  for (const [i, { text, target }] of purposesOf(random, world, bin, careless).slice(0, limits.purposes).entries()) {
    const head = i === 0 ? `Documents:\n${documents.join("")}\n` : "";
    messages.push({ role: "user", content: `${head}Purpose: ${text}` }, { role: "assistant", content: target });
  }
  return messages;
}

/** What System 1 reads of a program's output. */
export function programOutputSequence(random: Random): ChatMessage[] {
  const output = String(random.chance(0.5) ? 1500 + random.int(600) : random.int(500));
  const number = 1;
  return [
    { role: "system", content: SYSTEM1_INSTRUCTION },
    {
      role: "user",
      content: `Documents:\n${formatDocument(number, { title: "output", text: output })}\nPurpose: the result`,
    },
    { role: "assistant", content: quote(output) },
  ];
}

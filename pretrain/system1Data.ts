/**
 * Training sequences for System 1: one bin of documents, then many purposes about it, one chat turn each, so that most
 * tokens teach. The first turn has exactly the form that the dual-system loop uses.
 */
import { formatDocument, NOTHING_RELEVANT, SYSTEM1_INSTRUCTION } from "../src/dual/prompts";
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

/** Shares a syllable-long start or end of its name: what a hurried reader mixes up. */
function resembles(a: Entity, b: Entity): boolean {
  if (a === b) return false;
  const [wordsA, wordsB] = [a.name.split(" "), b.name.split(" ")];
  return wordsA.some((word) =>
    wordsB.some((other) => word.slice(0, 3) === other.slice(0, 3) || word.slice(-3) === other.slice(-3)),
  );
}

/** A bin around one entity: its article (mostly), namesakes, articles that mention it, and others. */
export function drawBin(random: Random, world: DetailedWorld, count: (text: string) => number, limits: BinLimits) {
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
  if (random.chance(0.5)) {
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

function purposesOf(random: Random, world: DetailedWorld, bin: ReturnType<typeof drawBin>): Purpose[] {
  const inside = new Set(bin.chosen.map(({ index }) => index));
  const positive: Purpose[] = [];
  const absent: Purpose[] = [];
  for (const { index } of bin.chosen) {
    const entity = world.entities[index] as Entity;
    for (const { relation } of entity.facts) {
      const text = purposeOf(relation.name, entity.name);
      const statement = world.articles[index]?.statements.get(relation.name);
      if (statement) positive.push({ text, target: quote(statement) });
      else absent.push({ text, target: nothing(entity.name) });
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
  for (const entity of missing) {
    absent.push({
      text: purposeOf(random.pick(entity.kind.relations).name, entity.name),
      target: nothing(entity.name),
    });
  }
  const chosen = random.shuffle(absent).slice(0, Math.max(1, Math.round(positive.length * 0.6)));
  return random.shuffle([...positive, ...chosen]);
}

/** The turns of one sequence. */
export function system1Sequence(
  random: Random,
  world: DetailedWorld,
  count: (text: string) => number,
  limits: BinLimits,
): ChatMessage[] {
  const bin = drawBin(random, world, count, limits);
  const documents = bin.chosen.map(({ index, number }) =>
    formatDocument(number, world.documents[index] as { title: string; text: string }),
  );
  const messages: ChatMessage[] = [{ role: "system", content: SYSTEM1_INSTRUCTION }];
  for (const [i, { text, target }] of purposesOf(random, world, bin).slice(0, limits.purposes).entries()) {
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

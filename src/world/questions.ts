/** Questions about a world: chains of one to three look-ups, and arithmetic on years. Only stated facts are asked for. */
import { Random } from "../random/random";
import type { Entity, Fact } from "./entities";
import type { WorldQuestion } from "./types";

/** Shares of one, two and three hops; the rest is arithmetic. */
const LOOKUPS = [0.35, 0.3, 0.2] as const;

interface Step {
  subject: Entity;
  fact: Fact;
}

/** How System 2 and System 1 name what is looked for. */
export function purposeOf(relation: string, subject: string): string {
  return `the ${relation} of ${subject}`;
}

/** Question number `index` of a world; the same for every number of questions. Streams from `firstStream` on are used. */
export function makeQuestion(
  entities: readonly Entity[],
  seed: number,
  index: number,
  firstStream: number,
): WorldQuestion {
  const random = new Random(seed, firstStream + index);
  const kind = random.uniform();
  let bound = 0;
  for (const [i, share] of LOOKUPS.entries()) {
    bound += share;
    if (kind < bound) return lookup(random, entities, index, i + 1);
  }
  return random.chance(0.6) ? difference(random, entities, index) : offset(random, entities, index);
}

function lookup(random: Random, entities: readonly Entity[], index: number, hops: number): WorldQuestion {
  for (;;) {
    const steps = walk(random, entities, hops);
    if (!steps) continue;
    const last = steps[steps.length - 1] as Step;
    // The outermost relation is asked in its own words, the inner ones as nested noun phrases.
    let phrase = (steps[0] as Step).subject.name;
    for (const step of steps.slice(0, -1)) phrase = purposeOf(step.fact.relation.name, phrase);
    const text = random.pick(last.fact.relation.questions).replaceAll("{s}", phrase);
    return question(index, text, "lookup", hops, steps, last.fact.object);
  }
}

/** A chain of stated facts that comes past no entity twice; undefined when the draw ran into a dead end. */
function walk(random: Random, entities: readonly Entity[], hops: number): Step[] | undefined {
  const steps: Step[] = [];
  const seen = new Set<Entity>();
  let subject: Entity | undefined = random.pick(entities);
  for (let hop = 0; hop < hops; hop++) {
    if (!subject || seen.has(subject)) return undefined;
    seen.add(subject);
    const stated: Fact[] = subject.facts.filter((fact) => fact.stated && (hop === hops - 1 || fact.entity));
    if (stated.length === 0) return undefined;
    const fact = random.pick(stated);
    steps.push({ subject, fact });
    subject = fact.entity;
  }
  return steps;
}

function drawYear(random: Random, entities: readonly Entity[]): Step {
  for (;;) {
    const subject = random.pick(entities);
    const years = subject.facts.filter((fact) => fact.stated && fact.relation.object === "year");
    if (years.length > 0) return { subject, fact: random.pick(years) };
  }
}

function difference(random: Random, entities: readonly Entity[], index: number): WorldQuestion {
  for (;;) {
    const steps = [drawYear(random, entities), drawYear(random, entities)] as const;
    const [first, second] = steps.map((step) => purposeOf(step.fact.relation.name, step.subject.name));
    if (first === second || steps[0].fact.object === steps[1].fact.object) continue;
    const years = Math.abs(Number(steps[0].fact.object) - Number(steps[1].fact.object));
    const text = `How many years lie between ${first} and ${second}?`;
    return question(index, text, "arithmetic", 2, steps, String(years));
  }
}

function offset(random: Random, entities: readonly Entity[], index: number): WorldQuestion {
  const step = drawYear(random, entities);
  const years = 2 + random.int(98);
  const text = `Which year is ${years} years after ${purposeOf(step.fact.relation.name, step.subject.name)}?`;
  return question(index, text, "arithmetic", 1, [step], String(Number(step.fact.object) + years));
}

function question(
  index: number,
  text: string,
  kind: WorldQuestion["kind"],
  hops: number,
  steps: readonly Step[],
  gold: string,
): WorldQuestion {
  return {
    id: `q${index + 1}`,
    text,
    hops,
    kind,
    gold: [gold],
    chain: steps.map(({ subject, fact }) => ({
      subject: subject.name,
      relation: fact.relation.name,
      object: fact.object,
    })),
    goldDocuments: [...new Set(steps.map((step) => step.subject.id))],
  };
}

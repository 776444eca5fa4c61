/**
 * Training sequences for System 2: whole research conversations with refined information as System 1 gives it, its
 * mistakes included (nothing found, another subject's fact), so that System 2 learns to check what it reads.
 */
import { formatDocument, system2Messages } from "../src/dual/prompts";
import type { Random } from "../src/random/random";
import type { ChatMessage } from "../src/text/tokenizer";
import { purposeOf } from "../src/world/questions";
import type { WorldQuestion } from "../src/world/types";
import type { DetailedWorld } from "../src/world/world";
import { nothing, quote, vagueness, vaguePurpose } from "./system1Data";

/** A turn of System 2 as the loop reads it: the thought, then a call or the answer. */
function say(thought: string, act: string): ChatMessage {
  return { role: "assistant", content: `<think>\n${thought}\n</think>\n\n${act}` };
}

function call(name: string, args: Record<string, string>): string {
  const list = Object.entries(args).map(([key, value]) => `"${key}": ${JSON.stringify(value)}`);
  return `<tool_call>\n{"name": "${name}", "arguments": {${list.join(", ")}}}\n</tool_call>`;
}

function search(subject: string, purpose: string, attempt: number): string {
  return call("search", { query: `${attempt === 0 ? "article on" : "facts on"} ${subject}`, purpose });
}

/** The answer follows a space, so that names keep the tokens that they have inside a sentence. */
function answer(text: string): string {
  return ` ${text}`;
}

/** Lines of bins around the one that holds the statement. */
function refined(
  random: Random,
  world: DetailedWorld,
  { subject, relation }: { subject: string; relation: string },
  statement: string | undefined,
  beside?: string,
): string {
  const lines = Array.from({ length: random.int(4) }, () => {
    if (random.chance(0.85)) return nothing(subject);
    const wrong = random.pick(world.articles);
    return quote(wrong.statements.get(relation) ?? random.pick([...wrong.statements.values(), wrong.title]));
  }).filter((line) => statement === undefined || line !== quote(statement));
  for (const line of [statement, beside]) {
    if (line !== undefined) lines.splice(random.int(lines.length + 1), 0, quote(line));
  }
  return lines.length > 0 ? lines.join("\n") : nothing(subject);
}

/** Raw documents, as System 2 reads them without System 1. */
function raw(random: Random, world: DetailedWorld, index: number): string {
  const numbers = random.shuffle([1, 2, 3]);
  const chosen = random.shuffle([index, random.int(world.articles.length), random.int(world.articles.length)]);
  return [...new Set(chosen)]
    .map((i, at) => formatDocument(numbers[at] as number, world.documents[i] as { title: string; text: string }))
    .join("");
}

/** `careless`: how often purposes are vague and System 1 does not find what it should, from 0 to 1. */
export function system2Sequence(
  random: Random,
  world: DetailedWorld,
  question: WorldQuestion,
  careless = 0,
): ChatMessage[] {
  const messages = system2Messages(question.text);
  const useRaw = random.chance(0.08);
  let known = "";
  for (const { subject, relation, object } of question.chain) {
    const purpose = purposeOf(relation, subject);
    const index = world.entities.findIndex((entity) => entity.name === subject);
    const statement = world.articles[index]?.statements.get(relation) as string;
    for (let attempt = 0; ; attempt++) {
      const isVague = random.chance(vagueness(relation, careless));
      messages.push(
        say(`${known}I need ${purpose}.`, search(subject, isVague ? vaguePurpose(subject) : purpose, attempt)),
      );
      const missed = !useRaw && random.chance(isVague ? 0.75 : Math.max(0.07, careless * 0.3));
      const others = [...(world.articles[index]?.statements.values() ?? [])].filter((other) => other !== statement);
      const beside = isVague && others.length > 0 ? random.pick(others) : undefined;
      messages.push({
        role: "tool",
        content: useRaw
          ? raw(random, world, index)
          : refined(random, world, { subject, relation }, missed ? undefined : statement, beside),
      });
      if (!missed) break;
      known = "I found nothing. ";
      if (attempt === 1) {
        messages.push(say(known.trim(), answer("unknown")));
        return messages;
      }
    }
    known = `${purpose[0]?.toUpperCase()}${purpose.slice(1)} is ${object}. `;
  }
  if (question.kind === "arithmetic") {
    const numbers = question.chain.map((step) => step.object);
    const code =
      numbers.length === 2
        ? `print(abs(${numbers[0]} - ${numbers[1]}))`
        : `print(${numbers[0]} + ${/Which year is (\d+) years/.exec(question.text)?.[1]})`;
    messages.push(say(`${known}I need the result.`, call("python", { code, purpose: "the result" })));
    messages.push({ role: "tool", content: quote(question.gold[0] as string) });
    known = `The result is ${question.gold[0]}. `;
  }
  messages.push(say(`${known}This is the answer.`, answer(question.gold[0] as string)));
  return messages;
}

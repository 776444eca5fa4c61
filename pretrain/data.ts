/**
 * Writes training rows for train.py: fixed-length rows of whole sequences, ordered from easy to hard.
 * usage: node pretrain/run.mjs data --tokenizer DIR --out FILE --rows N [--task dual|relay] [--length 384] [--seed 0]
 *   [--easy 0.4] [--system2 0.3] [--retrieved 0] [--careless 0]
 * `easy` is the share of rows over which bins and hands grow, `system2` the share of sequences that are System 2's,
 * `retrieved` the share of bins that a search fills as in the loop,
 * `careless` how often both systems show bad habits (vague purposes, extracts that miss or ramble).
 * File: "TWIN", then u32 rows, length; then per row: u16 ids[length], u8 flags[length] (bit 0: the token is a target,
 * bits 1-6: number of its sequence within the row, from 1; 0 is padding; bit 7: the token is of an agent's message).
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Random } from "../src/random/random";
import { type DetailedWorld, makeDetailedWorld, TRAINING_SEEDS } from "../src/world/world";
import { type Bpe, makeEncoder } from "./bpe";
import { renderSpans, type Span } from "./chat";
import { relaySequence } from "./relayData";
import { type BinLimits, programOutputSequence, system1Sequence } from "./system1Data";
import { system2Sequence } from "./system2Data";

const TOOLS = ["search", "python"];
const ROWS_PER_WORLD = 8;

interface TokenizerFile {
  model: { vocab: Record<string, number>; merges: [string, string][] };
  added_tokens: { content: string }[];
}

export function readTokenizer(directory: string): Bpe {
  const { model, added_tokens }: TokenizerFile = JSON.parse(readFileSync(join(directory, "tokenizer.json"), "utf8"));
  // By id, not by the order of the keys: JavaScript puts keys that are digits first.
  const vocabulary = Object.entries(model.vocab)
    .sort(([, a], [, b]) => a - b)
    .map(([token]) => token);
  return { vocabulary: [...vocabulary, ...added_tokens.map(({ content }) => content)], merges: model.merges };
}

/** Bins grow from one or two documents to full ones; even late rows hold small bins. */
function limitsAt(random: Random, difficulty: number, retrieved: number): BinLimits {
  const documents = 2 + random.int(1 + Math.floor(difficulty * 5.99));
  return { documents, tokens: Math.min(192, 70 + documents * 32), purposes: 12, retrieved };
}

interface Encoded {
  ids: number[];
  learn: boolean[];
  message: boolean[];
}

/** Encodes spans and stops before a span that does not fit, but only after a whole answer. */
function encodeSpans(spans: readonly Span[], encode: (text: string) => number[], room: number): Encoded | undefined {
  const ids: number[] = [];
  const learn: boolean[] = [];
  const message: boolean[] = [];
  let end = 0;
  for (const span of spans) {
    const encoded = encode(span.text);
    if (ids.length + encoded.length > room) break;
    ids.push(...encoded);
    for (const _ of encoded) {
      learn.push(span.learn);
      message.push(span.message ?? false);
    }
    if (span.learn) end = ids.length;
  }
  return end > 0 ? { ids: ids.slice(0, end), learn: learn.slice(0, end), message: message.slice(0, end) } : undefined;
}

export function main(args: string[]): void {
  const { values } = parseArgs({
    args,
    options: {
      tokenizer: { type: "string" },
      out: { type: "string" },
      rows: { type: "string" },
      length: { type: "string", default: "384" },
      seed: { type: "string", default: "0" },
      easy: { type: "string", default: "0.4" },
      system2: { type: "string", default: "0.3" },
      careless: { type: "string", default: "0" },
      retrieved: { type: "string", default: "0" },
      task: { type: "string", default: "dual" },
    },
  });
  if (!values.tokenizer || !values.out || !values.rows)
    throw new Error("--tokenizer DIR, --out FILE and --rows N are needed");
  const [rows, length, seed, easy] = [
    Number(values.rows),
    Number(values.length),
    Number(values.seed),
    Number(values.easy),
  ];
  if (values.task !== "dual" && values.task !== "relay") throw new Error(`--task ${values.task}: dual or relay`);
  const isRelay = values.task === "relay";
  const encode = makeEncoder(readTokenizer(values.tokenizer));
  const count = (text: string) => encode(text).length;
  const file = openSync(values.out, "w");
  writeSync(file, Buffer.concat([Buffer.from("TWIN"), Buffer.from(new Uint32Array([rows, length]).buffer)]));
  const habits = {
    system2: Number(values.system2),
    careless: Number(values.careless),
    retrieved: Number(values.retrieved),
  };
  let world: DetailedWorld | undefined;
  let learned = 0;
  for (let row = 0; row < rows; row++) {
    const random = new Random(seed, row + 1);
    if (!isRelay && (!world || row % ROWS_PER_WORLD === 0)) {
      const perKind = 3 + random.int(14);
      world = makeDetailedWorld(TRAINING_SEEDS * (1 + seed) + row, {
        corpus: random.chance(0.15) ? "papers" : "encyclopedia",
        perKind,
        questions: 40,
      });
    }
    const difficulty = easy > 0 ? Math.min(1, row / rows / easy) : 1;
    const ids = new Uint16Array(length);
    const flags = new Uint8Array(length);
    let at = 0;
    let sequence = 1;
    for (let attempt = 0; attempt < 4 && length - at > 60; attempt++) {
      const spans = world
        ? drawSequence(random, world, count, limitsAt(random, difficulty, habits.retrieved), length - at, habits)
        : relaySequence(random, { facts: 2 + Math.round(3 * difficulty), turns: 6 });
      const encoded = encodeSpans(spans, encode, length - at);
      if (!encoded) continue;
      ids.set(encoded.ids, at);
      for (const [i, learn] of encoded.learn.entries())
        flags[at + i] = (encoded.message[i] ? 128 : 0) | (sequence << 1) | (learn ? 1 : 0);
      learned += encoded.learn.filter(Boolean).length;
      at += encoded.ids.length;
      sequence++;
    }
    writeSync(file, Buffer.concat([Buffer.from(ids.buffer), Buffer.from(flags.buffer)]));
  }
  closeSync(file);
  console.log(`${rows} rows of ${length}, ${(learned / rows).toFixed(0)} targets a row`);
}

function drawSequence(
  random: Random,
  world: DetailedWorld,
  count: (text: string) => number,
  limits: BinLimits,
  room: number,
  { system2, careless }: { system2: number; careless: number },
): Span[] {
  if (random.chance(0.02)) return renderSpans(programOutputSequence(random));
  // A research conversation that is cut off at the end of a row still teaches its first turns.
  if (random.chance(room < 220 ? 0.8 : system2))
    return renderSpans(system2Sequence(random, world, random.pick(world.questions), careless), TOOLS);
  return renderSpans(system1Sequence(random, world, count, limits, careless));
}

/**
 * Trains the shipped agents' tokenizer on the text of a task and writes tokenizer.json and tokenizer_config.json.
 * usage: node pretrain/run.mjs tokenizer --out DIR [--size 1280] [--task dual|relay]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Random } from "../src/random/random";
import { makeDetailedWorld, TRAINING_SEEDS } from "../src/world/world";
import { tokenizerJson, trainBpe } from "./bpe";
import { CHAT_TEMPLATE, renderSpans } from "./chat";
import { relaySequence } from "./relayData";
import { system1Sequence } from "./system1Data";
import { system2Sequence } from "./system2Data";

/** Small worlds, so that names are as varied as the words around them are not. */
const WORLDS = 600;

function* dualTexts(): Generator<string> {
  const random = new Random(1);
  for (let i = 0; i < WORLDS; i++) {
    const corpus = i % 5 === 0 ? "papers" : "encyclopedia";
    const world = makeDetailedWorld(2 * TRAINING_SEEDS + i, { corpus, perKind: 3, questions: 6 });
    const messages = world.questions.map((question) => system2Sequence(random, world, question));
    for (let j = 0; j < 6; j++) {
      messages.push(
        system1Sequence(random, world, (text) => text.length / 4, { documents: 5, tokens: 250, purposes: 6 }),
      );
    }
    for (const conversation of messages) {
      yield renderSpans(conversation, ["search", "python"])
        .map((span) => span.text)
        .join("");
    }
  }
}

function* relayTexts(): Generator<string> {
  const random = new Random(2);
  for (let i = 0; i < 6000; i++) {
    yield relaySequence(random, { facts: 5, turns: 5 })
      .map((span) => span.text)
      .join("");
  }
}

export function main(args: string[]): void {
  const { values } = parseArgs({
    args,
    options: {
      out: { type: "string" },
      size: { type: "string", default: "1280" },
      task: { type: "string", default: "dual" },
    },
  });
  if (!values.out) throw new Error("--out DIR is missing");
  const bpe = trainBpe(values.task === "relay" ? relayTexts() : dualTexts(), Number(values.size));
  mkdirSync(values.out, { recursive: true });
  writeFileSync(join(values.out, "tokenizer.json"), `${JSON.stringify(tokenizerJson(bpe))}\n`);
  const config = {
    tokenizer_class: "Qwen2Tokenizer",
    add_bos_token: false,
    add_prefix_space: false,
    bos_token: null,
    eos_token: "<|im_end|>",
    pad_token: "<|endoftext|>",
    unk_token: null,
    clean_up_tokenization_spaces: false,
    model_max_length: 1152,
    chat_template: CHAT_TEMPLATE,
  };
  writeFileSync(join(values.out, "tokenizer_config.json"), `${JSON.stringify(config, null, 2)}\n`);
  console.log(`${bpe.vocabulary.length} tokens, ${bpe.merges.length} merges`);
  console.log(
    `last merges: ${bpe.merges
      .slice(-60)
      .map((pair) => pair.join("+"))
      .join("  ")}`,
  );
}

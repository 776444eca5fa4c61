/** The reader of the shipped agent: its numbers are those of the prompts that System 1 really gets. */
import { expect, test } from "vitest";
import { folderSource } from "../checkpoint/nodeFolder";
import { memorySource } from "../checkpoint/sources";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import { formatDocument, system1Messages } from "./prompts";
import { openReader } from "./reader";

const source = folderSource("public/models/twinloop-1m");
const documents = [
  { id: "a", title: "Kova", text: "Kova is a town in Belmar." },
  { id: "b", title: "Edda Novik", text: "Edda Novik was born in Kova in 1843." },
];

test("instruction and documents add up to the prompt, and a full bin to the prompt's budget", async () => {
  const reader = await openReader(source);
  const tokenizer = await loadTokenizerFrom(source);
  const formatted = documents.map((document, i) => formatDocument(i + 1, document));
  const prompt = tokenizer.renderChat(system1Messages(formatted, ""), { enableThinking: false });
  const tokens = reader.documentTokens(documents);
  expect(tokens).toEqual(formatted.map((text) => tokenizer.countTokens(text)));
  expect(tokenizer.countTokens(prompt)).toBe(reader.instructionTokens + tokens[0]! + tokens[1]!);
  // An eighth of the context of 1,152 tokens.
  expect(reader.capacity + reader.instructionTokens).toBe(144);
});

test("a folder without a configuration is refused by name", async () => {
  const tokenizer = await source.file("tokenizer.json");
  const bare = memorySource({ "tokenizer.json": tokenizer! }, "bare");
  await expect(openReader(bare)).rejects.toThrow("bare: config.json is missing");
});

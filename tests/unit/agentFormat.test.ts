/** The strings that agents are trained on are those that the product makes: tokenizer, chat template, sequences. */
import { describe, expect, it } from "vitest";
import { makeEncoder, tokenizerJson, trainBpe } from "../../pretrain/bpe";
import { CHAT_TEMPLATE, renderSpans } from "../../pretrain/chat";
import { system1Sequence } from "../../pretrain/system1Data";
import { system2Sequence } from "../../pretrain/system2Data";
import { parseMessage } from "../../src/dual/parse";
import { NOTHING_RELEVANT } from "../../src/dual/prompts";
import { Random } from "../../src/random/random";
import { loadTokenizer } from "../../src/text/loadTokenizer";
import type { ChatMessage, ToolFunction } from "../../src/text/tokenizer";
import { makeDetailedWorld } from "../../src/world/world";

const random = new Random(5);
const world = makeDetailedWorld(21, { perKind: 6, questions: 60 });
const limits = { documents: 4, tokens: 900, purposes: 6 };
const system1 = Array.from({ length: 20 }, () => system1Sequence(random, world, (text) => text.length, limits));
const system2 = world.questions.map((question) => system2Sequence(random, world, question));
const rendered = [...system1, ...system2].map((messages) => renderSpans(messages, ["search", "python"]));
const text = (spans: { text: string }[]) => spans.map((span) => span.text).join("");
const tools = ["search", "python"].map((name): ToolFunction => ({ name, description: "", parameters: {} }));

const bpe = trainBpe(rendered.map(text), 700);
const tokenizer = loadTokenizer({
  tokenizerJson: tokenizerJson(bpe),
  tokenizerConfig: { chat_template: CHAT_TEMPLATE, eos_token: "<|im_end|>" },
});

describe("the tokenizer", () => {
  it("encodes as the library does, special tokens, white space and foreign characters included", () => {
    const encode = makeEncoder(bpe);
    const samples = [
      ...rendered.slice(0, 5).map(text),
      " a  b\n\n c\r\n",
      "I'LL we've don't",
      "héllo Ω 漢字 🙂",
      "x<think>y</think>",
      "",
    ];
    for (const sample of samples) {
      expect(encode(sample)).toEqual(tokenizer.encode(sample));
      expect(tokenizer.decode(encode(sample))).toBe(sample.normalize("NFC"));
    }
  });

  it("has Qwen's special tokens last and whole", () => {
    expect(tokenizer.encode("<|im_start|>")).toHaveLength(1);
    expect(tokenizer.encode("</tool_response>")).toEqual([tokenizer.vocabSize - 3]);
  });
});

describe("the chat template", () => {
  it("renders what the agents are trained on", () => {
    for (const messages of [...system1.slice(0, 5), ...system2.slice(0, 20)]) {
      const spans = renderSpans(messages, ["search", "python"]);
      expect(tokenizer.renderChat(messages, { tools, addGenerationPrompt: false })).toBe(text(spans));
    }
  });

  it("opens the assistant's message, and lists no tools when there are none", () => {
    const messages = system1[0]?.slice(0, 2) as ChatMessage[];
    expect(tokenizer.renderChat(messages)).toBe(`${text(renderSpans(messages))}<|im_start|>assistant\n`);
  });
});

describe("training sequences", () => {
  it("let System 1 quote a sentence of a document, word for word, or say of the subject that nothing is relevant", () => {
    let quotes = 0;
    for (const messages of system1) {
      const documents = (messages[1] as ChatMessage).content;
      for (let i = 1; i < messages.length; i += 2) {
        const [, subject] = /Purpose: the .+? of (.+)$/.exec((messages[i] as ChatMessage).content) as RegExpExecArray;
        const said = messages[i + 1]?.content;
        if (said === `- ${subject}: ${NOTHING_RELEVANT}`) continue;
        const [, sentence] = /^- (.+)$/.exec(said as string) as RegExpExecArray;
        expect(documents).toContain(sentence);
        expect(sentence).toContain(subject);
        quotes++;
      }
    }
    expect(quotes).toBeGreaterThan(40);
  });

  it("never let System 1 deny what a document states", () => {
    let denials = 0;
    for (const messages of system1) {
      const documents = (messages[1] as ChatMessage).content;
      for (let i = 1; i < messages.length; i += 2) {
        if (!messages[i + 1]?.content.endsWith(NOTHING_RELEVANT)) continue;
        const purpose = /Purpose: the (.+?) of (.+)$/.exec((messages[i] as ChatMessage).content) as RegExpExecArray;
        const index = world.entities.findIndex((entity) => entity.name === purpose[2]);
        const statement = world.articles[index]?.statements.get(purpose[1] as string);
        expect(statement !== undefined && documents.includes(statement)).toBe(false);
        denials++;
      }
    }
    expect(denials).toBeGreaterThan(20);
  });

  it("let System 2 say only what the loop's parser reads, and end with the gold answer or with not knowing", () => {
    for (const [i, messages] of system2.entries()) {
      const said = messages.filter((message) => message.role === "assistant");
      for (const [at, { content }] of said.entries()) {
        const { action } = parseMessage(content, tools);
        expect(action.type).toBe(at < said.length - 1 ? "toolCall" : "answer");
        if (action.type === "answer") expect([world.questions[i]?.gold[0], "unknown"]).toContain(action.text);
      }
    }
  });
});

/** The real Qwen3 tokenizer: ids, round trips, special tokens, streaming, and agreement with the library alone. */
import { Tokenizer } from "@huggingface/tokenizers";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { qwen3TokenizerSource } from "../../tests/fixtures/qwen3Tokenizer";
import { memorySource } from "../checkpoint/sources";
import { encodeByLibrary } from "./encoder";
import { loadTokenizer, loadTokenizerFrom } from "./loadTokenizer";
import type { ModelTokenizer } from "./tokenizer";

let qwen: ModelTokenizer;
let library: Tokenizer;
beforeAll(async () => {
  const source = qwen3TokenizerSource();
  qwen = await loadTokenizerFrom(source);
  const json = async (file: string) => JSON.parse(new TextDecoder().decode(await source.file(file)));
  library = new Tokenizer(await json("tokenizer.json"), await json("tokenizer_config.json"));
}, 60_000);

/** Texts with everything that tokenizers stumble over: scripts, emoji, control characters, whitespace, special tokens. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 8 }),
      fc.string({ unit: "grapheme", maxLength: 8 }),
      fc.constantFrom(
        " ",
        "  ",
        "\n",
        " \n\n ",
        "\t",
        "'s",
        "'LL",
        "the river",
        "1987",
        "Ünïcode",
        "日本語",
        "👩‍👩‍👧‍👦",
        "🏳️‍🌈",
      ),
      fc.constantFrom("<|im_start|>", "<|im_end|>", "<tool_call>", "</think>", "<|im_", "end|>", "<tool", "\ufeff"),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

/** Lone surrogates, which no UTF-8 can hold, become U+FFFD. */
const wellFormed = (text: string) =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text));

/** Milliseconds of the fastest of several runs: other processes can only slow a run down. */
const fastest = (runs: number, work: () => void) =>
  Math.min(
    ...Array.from({ length: runs }, () => {
      const start = performance.now();
      work();
      return performance.now() - start;
    }),
  );

const streamed = (tokenizer: ModelTokenizer, ids: ArrayLike<number>) => {
  const detokenizer = tokenizer.detokenizer();
  return [...Array.from(ids, (id) => detokenizer.push(id)), detokenizer.flush()];
};

describe("encode", () => {
  it("gives the ids of Qwen's tokenizer", () => {
    // As AutoTokenizer.from_pretrained("Qwen/Qwen3-0.6B") gives them.
    expect(qwen.encode("Hello, world!")).toEqual([9707, 11, 1879, 0]);
    expect(qwen.encode("<|im_start|>user\n")).toEqual([151644, 872, 198]);
    expect(qwen.encode("<think>\n\n</think>\n\n")).toEqual([151667, 271, 151668, 271]);
    expect(qwen.encode("")).toEqual([]);
    expect(qwen.vocabSize).toBe(151669);
  });

  it("adds nothing and counts what it encodes", () => {
    expect(qwen.encode("a")).toHaveLength(1);
    expect(qwen.countTokens("Hello, world!<|im_end|>")).toBe(5);
  });

  it("agrees with the library alone", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(qwen.encode(text)).toEqual(encodeByLibrary(library, text));
      }),
      { numRuns: 500 },
    );
  });

  it("hands out arrays of its own", () => {
    qwen.encode("mutable").fill(0);
    expect(qwen.encode("mutable")).not.toContain(0);
  });

  it("is fast enough to count tokens all day", () => {
    const text = `${"The river Velmor rises in the hills of Astrand and flows 312 km to the sea. ".repeat(50)}\n`;
    const tokens = qwen.countTokens(text);
    const ms = fastest(10, () => {
      qwen.countTokens(text);
    });
    // A tenth of what one busy core does, so that only a lost cache can fail this.
    expect((tokens / ms) * 1000).toBeGreaterThan(100_000);
  });
});

describe("decode", () => {
  it("gives every text back, in its composed form", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(qwen.decode(qwen.encode(text))).toBe(wellFormed(text).normalize("NFC"));
      }),
      { numRuns: 500 },
    );
  });

  it("keeps special tokens and ignores ids without a token", () => {
    expect(qwen.decode([151644, 872, 198, 151668, 151645])).toBe("<|im_start|>user\n</think><|im_end|>");
    expect(qwen.decode([9707, 151935, 11])).toBe("Hello,");
    expect(qwen.decode([])).toBe("");
  });

  it("agrees with the library on any ids", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(151668), { minLength: 1, maxLength: 20 }), (ids) => {
        expect(qwen.decode(ids)).toBe(library.decode(ids, { skip_special_tokens: false }));
      }),
    );
  });
});

describe("detokenizer", () => {
  it("says the same as a whole decode, for texts and for arbitrary ids", () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(152000), { maxLength: 20 }), (text, ids) => {
        for (const sequence of [qwen.encode(text), ids]) {
          expect(streamed(qwen, sequence).join("")).toBe(qwen.decode(sequence));
        }
      }),
    );
  });

  it("holds a character back until it is whole", () => {
    const emoji = "👩‍🚀🪐";
    const ids = qwen.encode(emoji);
    expect(ids.length).toBeGreaterThan(4);
    const pieces = streamed(qwen, ids);
    expect(pieces.join("")).toBe(emoji);
    expect(pieces).toContain("");
    for (const piece of pieces) {
      expect(wellFormed(piece)).toBe(piece);
      expect(piece).not.toContain("\ufffd");
    }
  });

  it("flushes what stayed incomplete as U+FFFD, and starts anew", () => {
    const detokenizer = qwen.detokenizer();
    const [first = 0] = qwen.encode("🪐");
    expect(detokenizer.push(first)).toBe("");
    expect(detokenizer.flush()).toBe("\ufffd");
    expect(detokenizer.push(9707)).toBe("Hello");
    expect(detokenizer.flush()).toBe("");
  });

  it("ends an incomplete character before a special token", () => {
    const [first = 0] = qwen.encode("🪐");
    expect(streamed(qwen, [first, 151645]).join("")).toBe("\ufffd<|im_end|>");
  });

  it("takes time linear in the number of tokens", () => {
    const ids = qwen.encode("A planet with rings 🪐 and moons. ".repeat(40));
    const time = (repeats: number) =>
      fastest(5, () => {
        const detokenizer = qwen.detokenizer();
        for (let i = 0; i < repeats; i++) {
          for (const id of ids) {
            detokenizer.push(id);
          }
        }
      });
    // 20 times the tokens; a quadratic one would take 400 times as long.
    expect(time(200) / time(10)).toBeLessThan(100);
  });
});

describe("files", () => {
  const small = {
    model: { type: "BPE", vocab: { a: 0, b: 1, ab: 2 }, merges: [["a", "b"]] },
    decoder: { type: "ByteLevel" },
  };

  it("reads a minimal tokenizer.json", () => {
    const tokenizer = loadTokenizer({ tokenizerJson: small, tokenizerConfig: {} });
    expect(tokenizer.encode("abb")).toEqual([2, 1]);
    expect(tokenizer.decode([2, 1])).toBe("abb");
    expect(tokenizer.vocabSize).toBe(3);
  });

  it("decodes byte fallback and the leading space of SentencePiece-like tokenizers", () => {
    const bytes = Object.fromEntries(
      Array.from({ length: 256 }, (_, i) => [`<0x${i.toString(16).toUpperCase().padStart(2, "0")}>`, i]),
    );
    const tokenizer = loadTokenizer({
      tokenizerJson: {
        added_tokens: [{ id: 260, content: "</s>", special: true, normalized: false }],
        normalizer: {
          type: "Sequence",
          normalizers: [
            { type: "Prepend", prepend: "▁" },
            { type: "Replace", pattern: { String: " " }, content: "▁" },
          ],
        },
        model: {
          type: "BPE",
          byte_fallback: true,
          unk_token: null,
          vocab: { ...bytes, "▁": 256, a: 257, "▁a": 258 },
          merges: [["▁", "a"]],
        },
        decoder: {
          type: "Sequence",
          decoders: [
            { type: "Replace", pattern: { String: "▁" }, content: " " },
            { type: "ByteFallback" },
            { type: "Fuse" },
            { type: "Strip", content: " ", start: 1, stop: 0 },
          ],
        },
      },
      tokenizerConfig: {},
    });
    const ids = tokenizer.encode("a a🪐 </s>");
    expect(ids).toEqual([258, 258, 0xf0, 0x9f, 0xaa, 0x90, 256, 260]);
    expect(tokenizer.decode(ids)).toBe("a a🪐 </s>");
    expect(tokenizer.decode(tokenizer.encode("  a"))).toBe("  a");
    expect(streamed(tokenizer, ids)).toEqual(["a", " a", "", "", "", "🪐", " ", "</s>", ""]);
    expect(tokenizer.encode("a a🪐 </s>")).toEqual(ids);
  });

  it("refuses other kinds of files by name", () => {
    const load = (tokenizerJson: unknown, tokenizerConfig: unknown = {}) =>
      loadTokenizer({ tokenizerJson, tokenizerConfig });
    expect(() => load({})).toThrow('tokenizer.json: field "model"');
    expect(() => load([])).toThrow("tokenizer.json: ");
    expect(() => load({ ...small, decoder: { type: "WordPiece" } })).toThrow('field "decoder" is {"type":"WordPiece"}');
    expect(() => load({ ...small, decoder: undefined })).toThrow('field "decoder" is null');
    expect(() => load({ ...small, model: { ...small.model, type: "Foo" } })).toThrow('field "model.type"');
    expect(() => load({ ...small, model: { ...small.model, merges: {} } })).toThrow('field "model.merges"');
    expect(() => load({ ...small, model: { ...small.model, merges: [3] } })).toThrow("tokenizer.json: ");
    expect(() => load(small, { eos_token: 3 })).toThrow('tokenizer_config.json: field "eos_token"');
    expect(() => load(small, [])).toThrow("tokenizer_config.json: ");
  });

  it("reads the files of a source, and names what is missing or broken", async () => {
    const load = (files: Record<string, string>) => loadTokenizerFrom(memorySource(files, "the model"));
    await expect(load({})).rejects.toThrow("the model: tokenizer.json is missing");
    await expect(load({ "tokenizer.json": "{" })).rejects.toThrow("the model: tokenizer.json: not valid JSON");
    const json = JSON.stringify(small);
    await expect(load({ "tokenizer.json": json, "tokenizer_config.json": "]" })).rejects.toThrow(
      "the model: tokenizer_config.json: not valid JSON",
    );
    const bare = await load({ "tokenizer.json": json });
    expect(bare.encode("ab")).toEqual([2]);
    expect(() => bare.renderChat([])).toThrow("this checkpoint has no chat template");
    const config = JSON.stringify({ chat_template: "config" });
    const files = { "tokenizer.json": json, "tokenizer_config.json": config };
    expect((await load(files)).renderChat([])).toBe("config");
    expect((await load({ ...files, "chat_template.jinja": "file" })).renderChat([])).toBe("file");
  });
});

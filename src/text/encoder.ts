/**
 * Text to ids. @huggingface/tokenizers does the work; around it stand two caches, because evaluations encode the same
 * words and the same messages again and again, and the library alone manages some ten thousand tokens a second.
 */
import { SplitPreTokenizer, type Tokenizer } from "@huggingface/tokenizers";
import { z } from "zod";
import { BYTE_CHARS } from "./tokenBytes";

export type Encode = (text: string) => number[];

/** Characters after which a cache starts anew; generated names would otherwise let it grow without end. */
const CACHE_CHARACTERS = 4_000_000;

const addedTokenSchema = z.looseObject({ id: z.int(), content: z.string() });
type AddedToken = z.infer<typeof addedTokenSchema>;

/** The shape that the word cache understands: a regular expression splits, each piece is a byte-level BPE word. */
const wordwiseSchema = z.looseObject({
  normalizer: z.looseObject({ type: z.literal("NFC") }).nullish(),
  pre_tokenizer: z.looseObject({
    type: z.literal("Sequence"),
    pretokenizers: z.tuple([
      z.looseObject({
        type: z.literal("Split"),
        pattern: z.object({ Regex: z.string() }),
        behavior: z.literal("Isolated"),
        invert: z.literal(false).nullish(),
      }),
      z.looseObject({
        type: z.literal("ByteLevel"),
        add_prefix_space: z.literal(false),
        use_regex: z.literal(false),
      }),
    ]),
  }),
  model: z.looseObject({ type: z.literal("BPE"), fuse_unk: z.literal(false).nullish() }),
  added_tokens: z.array(
    addedTokenSchema.extend({
      content: z.string().min(1),
      lstrip: z.literal(false).nullish(),
      rstrip: z.literal(false).nullish(),
      normalized: z.literal(false),
    }),
  ),
});
type Wordwise = z.infer<typeof wordwiseSchema>;

/** An encoder for a tokenizer.json; special tokens written in the text are recognised, none are added. */
export function createEncoder(tokenizerJson: unknown, tokenizer: Tokenizer): Encode {
  const wordwise = wordwiseSchema.safeParse(tokenizerJson);
  if (wordwise.success && tokenizer.model) {
    return createWordwiseEncoder(wordwise.data, tokenizer);
  }
  const cache = new IdCache();
  return (text) => cache.get(text, () => encodeByLibrary(tokenizer, text)).slice();
}

/** What the library alone makes of a text. */
export function encodeByLibrary(tokenizer: Tokenizer, text: string): number[] {
  return text === "" ? [] : tokenizer.encode(text, { add_special_tokens: false }).ids;
}

/**
 * Added tokens cut the text into sections, the regular expression cuts sections into words, and each word is encoded
 * alone, so that a word's ids depend on nothing around it and can be kept.
 */
function createWordwiseEncoder({ normalizer, pre_tokenizer, added_tokens }: Wordwise, tokenizer: Tokenizer): Encode {
  const splitter = new SplitPreTokenizer(pre_tokenizer.pretokenizers[0] as never);
  const addedIds = new Map(added_tokens.map(({ content, id }) => [content, id]));
  const addedPattern = patternOf(added_tokens);
  const utf8 = new TextEncoder();
  const cache = new IdCache();

  const encodeWord = (word: string): number[] => {
    const chars = Array.from(utf8.encode(word), (byte) => BYTE_CHARS[byte]).join("");
    const tokens = tokenizer.model?.encode([chars]) ?? [];
    return tokens.map((token) => tokenizer.token_to_id(token) as number);
  };
  const wordsOf = (section: string): string[] => {
    // Where the pattern covers everything, as real ones do, a plain match is several times faster than the library.
    const words = splitter.pattern ? (section.match(splitter.pattern) ?? []) : [];
    const covered = words.reduce((sum, word) => sum + word.length, 0);
    return covered === section.length ? words.filter((word) => word !== "") : splitter.pre_tokenize_text(section);
  };

  return (text) => {
    const ids: number[] = [];
    for (const section of addedPattern ? text.split(addedPattern) : [text]) {
      const addedId = addedIds.get(section);
      if (addedId !== undefined) {
        ids.push(addedId);
      } else if (section !== "") {
        for (const word of wordsOf(normalizer ? section.normalize("NFC") : section)) {
          for (const id of cache.get(word, encodeWord)) {
            ids.push(id);
          }
        }
      }
    }
    return ids;
  };
}

/** Matches any added token, the longest first, in a group so that split() keeps it. */
function patternOf(tokens: readonly AddedToken[]): RegExp | undefined {
  if (tokens.length === 0) {
    return undefined;
  }
  const contents = tokens.map(({ content }) => content).sort((a, b) => b.length - a.length);
  return new RegExp(`(${contents.map((content) => content.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|")})`);
}

class IdCache {
  private readonly entries = new Map<string, readonly number[]>();
  private characters = 0;

  get(text: string, compute: (text: string) => readonly number[]): readonly number[] {
    let ids = this.entries.get(text);
    if (!ids) {
      ids = compute(text);
      this.characters += text.length;
      if (this.characters > CACHE_CHARACTERS) {
        this.entries.clear();
        this.characters = text.length;
      }
      this.entries.set(text, ids);
    }
    return ids;
  }
}

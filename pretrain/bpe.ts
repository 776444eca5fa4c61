/**
 * Byte-level byte-pair encoding: training, encoding, and the tokenizer.json that other software reads.
 * Pre-tokenization and byte alphabet are those of Qwen2, so that the shipped agents' tokenizer is of the same form.
 * Sources: Sennrich et al. 2016 (merges); the tokenizer.json format of the `tokenizers` library.
 */

/** How Qwen2 cuts text before merging: contractions, words with one leading sign, single digits, signs, white space. */
export const PRE_TOKEN =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
/** The same for JavaScript, whose expressions have no inline flags in Node 20. */
const preToken = new RegExp(
  PRE_TOKEN.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)", "'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL]{2})"),
  "gu",
);

/** The tokens of Qwen's chat and tool-call format, in the order of their ids. */
export const SPECIAL_TOKENS = [
  "<|endoftext|>",
  "<|im_start|>",
  "<|im_end|>",
  "<tool_call>",
  "</tool_call>",
  "<tool_response>",
  "</tool_response>",
  "<think>",
  "</think>",
] as const;

/** The printable stand-in of each byte (GPT-2's table): printable bytes stand for themselves, others from U+0100 on. */
function byteAlphabet(): string[] {
  const alphabet: string[] = [];
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    alphabet.push(String.fromCharCode(printable ? byte : next++));
  }
  return alphabet;
}

const alphabet = byteAlphabet();
const utf8 = new TextEncoder();

export interface Bpe {
  vocabulary: string[];
  merges: [string, string][];
}

/** Learns merges until the vocabulary (bytes, merges and special tokens) has `size` entries or no pair occurs twice. */
export function trainBpe(texts: Iterable<string>, size: number): Bpe {
  const counts = new Map<string, number>();
  for (const text of texts) {
    for (const piece of splitSpecial(text)) {
      if (piece.special) continue;
      for (const [word] of piece.text.matchAll(preToken)) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const words = [...counts].map(([word, count]) => ({ symbols: toSymbols(word), count }));
  const vocabulary = [...alphabet];
  const merges: [string, string][] = [];
  while (vocabulary.length < size - SPECIAL_TOKENS.length) {
    const pairs = new Map<string, number>();
    for (const { symbols, count } of words) {
      for (let i = 1; i < symbols.length; i++) {
        const pair = `${symbols[i - 1]} ${symbols[i]}`;
        pairs.set(pair, (pairs.get(pair) ?? 0) + count);
      }
    }
    let best = "";
    let bestCount = 1;
    for (const [pair, count] of pairs) {
      if (count > bestCount || (count === bestCount && pair < best)) [best, bestCount] = [pair, count];
    }
    if (best === "") break;
    const [left, right] = best.split(" ") as [string, string];
    merges.push([left, right]);
    vocabulary.push(left + right);
    for (const word of words) word.symbols = mergePair(word.symbols, left, right);
  }
  return { vocabulary: [...vocabulary, ...SPECIAL_TOKENS], merges };
}

function toSymbols(word: string): string[] {
  return [...utf8.encode(word)].map((byte) => alphabet[byte] as string);
}

function mergePair(symbols: string[], left: string, right: string): string[] {
  const merged: string[] = [];
  for (let i = 0; i < symbols.length; i++) {
    if (symbols[i] === left && symbols[i + 1] === right) {
      merged.push(left + right);
      i++;
    } else merged.push(symbols[i] as string);
  }
  return merged;
}

const specialPattern = new RegExp(`(${SPECIAL_TOKENS.map((token) => token.replace(/[|]/g, "\\|")).join("|")})`);

function splitSpecial(text: string): { text: string; special: boolean }[] {
  return text.split(specialPattern).map((piece, i) => ({ text: piece, special: i % 2 === 1 }));
}

/** Encodes text with special tokens recognised. Pre-tokens are cached: a world's text repeats its words. */
export function makeEncoder({ vocabulary, merges }: Bpe): (text: string) => number[] {
  const ids = new Map(vocabulary.map((token, id) => [token, id]));
  const ranks = new Map(merges.map(([left, right], rank) => [`${left} ${right}`, rank]));
  const cache = new Map<string, number[]>();
  const encodeWord = (word: string): number[] => {
    let symbols = toSymbols(word);
    for (;;) {
      let best = Number.POSITIVE_INFINITY;
      let at = -1;
      for (let i = 1; i < symbols.length; i++) {
        const rank = ranks.get(`${symbols[i - 1]} ${symbols[i]}`);
        if (rank !== undefined && rank < best) [best, at] = [rank, i];
      }
      if (at < 0) break;
      symbols = mergePair(symbols, symbols[at - 1] as string, symbols[at] as string);
    }
    return symbols.map((symbol) => ids.get(symbol) as number);
  };
  return (text) => {
    const result: number[] = [];
    for (const piece of splitSpecial(text)) {
      if (piece.special) {
        result.push(ids.get(piece.text) as number);
        continue;
      }
      for (const [word] of piece.text.matchAll(preToken)) {
        let encoded = cache.get(word);
        if (!encoded) {
          encoded = encodeWord(word);
          if (cache.size < 200_000) cache.set(word, encoded);
        }
        result.push(...encoded);
      }
    }
    return result;
  };
}

/** The content of tokenizer.json. */
export function tokenizerJson({ vocabulary, merges }: Bpe): object {
  const firstSpecial = vocabulary.length - SPECIAL_TOKENS.length;
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: SPECIAL_TOKENS.map((content, i) => ({
      id: firstSpecial + i,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: content.startsWith("<|"),
    })),
    normalizer: { type: "NFC" },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: PRE_TOKEN }, behavior: "Isolated", invert: false },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: "",
      end_of_word_suffix: "",
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries(vocabulary.slice(0, firstSpecial).map((token, id) => [token, id])),
      merges,
    },
  };
}

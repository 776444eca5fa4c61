/**
 * System 1: reads many documents for a purpose and hands on only what serves it. Documents are counted in its own
 * tokens, packed by First Fit Decreasing into bins that fit its prompt, and all bins are read in one batched generation
 * (or in several, where fewer may be read at once).
 * It keeps no state between calls. Source: MARS (arXiv 2510.04935), sections on dual systems and bin packing.
 */
import type { GenerateRequest, LanguageModel, SamplingOptions } from "../model/languageModel";
import { type Packing, type PackingAlgorithm, pack } from "../packing/pack";
import { randomU32 } from "../random/random";
import type { ModelTokenizer } from "../text/tokenizer";
import { neutralizeControls } from "./neutral";
import { splitThought } from "./parse";
import { formatDocument, system1Messages } from "./prompts";
import { ReadableError, type ToolDocument } from "./tool";

/** By default one prompt (template, instruction, purpose and documents) takes this share of the model's context. */
const PROMPT_SHARE = 1 / 8;
/** And the output of one bin this share, within a limit: a quote is short however long the context is. */
const OUTPUT_SHARE = 1 / 16;
const LONGEST_OUTPUT = 512;
/** A purpose that leaves less than this for documents is refused: every document would be cut to nothing. */
const LEAST_CAPACITY = 16;

export interface System1Settings {
  model: LanguageModel;
  /** Tokens of documents that one bin holds. Default: what the prompt budget leaves after everything else. */
  capacity?: number;
  /** Tokens of one prompt. Default: an eighth of the model's context. */
  promptBudget?: number;
  /** New tokens of one bin. Default: a sixteenth of the model's context, at most 512. */
  maxTokens?: number;
  sampling?: SamplingOptions;
  /** How documents come into bins. Default: First Fit Decreasing. */
  packing?: PackingAlgorithm;
  /** Bins read in one batch; further ones wait for their turn. Default: all. */
  parallel?: number;
}

/** What decides how much fits into a bin; needs no weights. */
export interface ReaderSettings extends Omit<System1Settings, "model"> {
  model: Pick<LanguageModel, "config" | "tokenizer">;
}

/** A document as System 1 reads it. */
export interface FormattedDocument {
  /** With number and title, as in prompts.ts. */
  text: string;
  tokens: number;
}

export interface RefineHooks {
  /** Number of the turn: it decides the random numbers. */
  turn: number;
  signal?: AbortSignal;
  /** Milliseconds of any origin. */
  now: () => number;
  onPacked?: (packing: Packing) => void;
  onStarted?: (bin: number, prompt: string, promptTokens: number) => void;
  onToken?: (bin: number, text: string) => void;
  onFinished?: (bin: number, output: RefinedBin) => void;
}

export interface RefinedBin {
  /** What System 1 wrote, verbatim. */
  text: string;
  promptTokens: number;
  outputTokens: number;
  /** From the start of its batch to this bin's last token. */
  ms: number;
}

export interface Refined {
  packing: Packing;
  /** Of the bins that were read: fewer than packed after an abort. */
  bins: RefinedBin[];
  /** What System 2 gets to read: the outputs in bin order, joined by newlines. */
  text: string;
  /** The signal ended the generation; the texts are incomplete. */
  aborted: boolean;
}

/** Numbers, formats and counts documents for a reader. Numbers count from 1 in the order of the tool's result. */
export function formatDocuments(documents: readonly ToolDocument[], tokenizer: ModelTokenizer): FormattedDocument[] {
  return documents.map(({ title, text }, i) => {
    const formatted = formatDocument(i + 1, { title: neutralizeControls(title), text: neutralizeControls(text) });
    return { text: formatted, tokens: tokenizer.countTokens(formatted) };
  });
}

/**
 * Tokens of documents that fit into one bin for this purpose: the given capacity, or what is left of the prompt budget
 * after template, instruction and purpose; in either case no more than the model's context holds beside the output.
 * May be zero or negative when the purpose fills the prompt.
 */
export function binCapacity(purpose: string, settings: ReaderSettings): number {
  const { model, capacity } = settings;
  const context = model.config.maxPositions;
  const promptBudget = settings.promptBudget ?? Math.ceil(context * PROMPT_SHARE);
  const reserve = Math.min(maxTokensOf(settings), Math.ceil(context / 4));
  // Measured around a document: the template's own line ends may merge with each other when there is none.
  const probe = formatDocument(1, { title: "a", text: "a" });
  const { tokenizer } = model;
  const overhead = tokenizer.countTokens(renderBin([probe], purpose, tokenizer)) - tokenizer.countTokens(probe);
  const room = context - reserve - overhead;
  return Math.min(capacity ?? promptBudget - overhead, room);
}

/**
 * Refines documents for a purpose.
 * @throws ReadableError when the purpose leaves no room for documents; whatever the model throws.
 */
export async function refine(
  documents: readonly FormattedDocument[],
  purpose: string,
  settings: System1Settings,
  hooks: RefineHooks,
): Promise<Refined> {
  const { model, sampling = {} } = settings;
  const maxTokens = maxTokensOf(settings);
  const { tokenizer } = model;
  const capacity = binCapacity(purpose, settings);
  if (capacity < Math.min(settings.capacity ?? LEAST_CAPACITY, LEAST_CAPACITY)) {
    throw new ReadableError("the purpose is too long to leave room for documents. Say it in fewer words.");
  }
  const lengths = documents.map(({ tokens }) => tokens);
  const packing = pack(lengths, capacity, settings.packing ?? "ffd");
  hooks.onPacked?.(packing);

  const cut = new Set(packing.truncated);
  const prompts = packing.bins.map(({ items }) => {
    const texts = items.map((item) => {
      const { text } = documents[item] as FormattedDocument;
      return cut.has(item) ? truncateDocument(text, capacity, tokenizer) : text;
    });
    return renderBin(texts, purpose, tokenizer);
  });
  const atOnce = settings.parallel ?? Math.max(1, prompts.length);
  const bins: RefinedBin[] = [];
  let aborted = false;
  for (let first = 0; first < prompts.length && !aborted; first += atOnce) {
    const requests = prompts.slice(first, first + atOnce).map((prompt, i): GenerateRequest => {
      const bin = first + i;
      const ids = tokenizer.encode(prompt);
      hooks.onStarted?.(bin, prompt, ids.length);
      // Capacity leaves room for the output; a merge across a document's edge may cost a token of it.
      const room = Math.max(1, model.config.maxPositions - ids.length);
      return {
        ...sampling,
        seed: randomU32(sampling.seed ?? 0, hooks.turn, bin + 1),
        input: { ids },
        maxTokens: Math.min(maxTokens, room),
      };
    });
    const start = hooks.now();
    const lastToken = new Array<number>(requests.length);
    const results = await model.generate(requests, {
      signal: hooks.signal,
      onToken: ({ request, text }) => {
        lastToken[request] = hooks.now();
        hooks.onToken?.(first + request, text);
      },
    });
    const end = hooks.now();
    for (const [i, { text, ids, promptTokens, finishReason }] of results.entries()) {
      const bin = { text, promptTokens, outputTokens: ids.length, ms: (lastToken[i] ?? end) - start };
      bins.push(bin);
      hooks.onFinished?.(first + i, bin);
      aborted ||= finishReason === "aborted";
    }
  }
  return { packing, bins, text: bins.map(({ text }) => splitThought(text).rest).join("\n"), aborted };
}

function maxTokensOf({ model, maxTokens }: ReaderSettings): number {
  return maxTokens ?? Math.min(LONGEST_OUTPUT, Math.ceil(model.config.maxPositions * OUTPUT_SHARE));
}

function renderBin(documents: readonly string[], purpose: string, tokenizer: ModelTokenizer): string {
  const messages = system1Messages(documents, neutralizeControls(purpose));
  return tokenizer.renderChat(messages, { enableThinking: false });
}

/**
 * A formatted document cut at a token boundary to at most `capacity` tokens, its closing newline kept. The cut text is
 * counted anew, because the tokens of a beginning need not be the beginning of the tokens.
 */
export function truncateDocument(text: string, capacity: number, tokenizer: ModelTokenizer): string {
  const ids = tokenizer.encode(text);
  if (ids.length <= capacity) return text;
  for (let length = capacity; length > 0; length--) {
    // A token may hold a part of a character, which decodes to U+FFFD.
    const start = tokenizer.decode(ids.slice(0, length)).replace(/\uFFFD+$/, "");
    const cut = `${start.trimEnd()}\n`;
    if (tokenizer.countTokens(cut) <= capacity) return cut;
  }
  return "";
}

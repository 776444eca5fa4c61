/** How large passages of documents may be for a System 1, so that packing need not cut one. */
import type { CountTokens } from "../../corpus/passages";
import { neutralizeControls } from "../neutral";
import { formatDocument } from "../prompts";
import { binCapacity, type ReaderSettings } from "../system1";

/** Longer passages would leave a search little choice of what to return. */
const LONGEST_PASSAGE = 256;
/** Shorter ones are no sentences; a bin that is smaller still cuts them. */
const SHORTEST_PASSAGE = 16;
/** As long as purposes usually are. */
const TYPICAL_PURPOSE = "what the documents say about the subject of this question";

export interface PassageSize {
  /** Counts a document as System 1 reads it, with number and title. */
  countTokens: CountTokens;
  /** Tokens of one passage, at most. */
  maxTokens: number;
}

/** For `readCorpus` and `wikipediaTool`, by the tokenizer and the bins of the System 1 that is going to read. */
export function passageSize(settings: ReaderSettings): PassageSize {
  const { tokenizer } = settings.model;
  const capacity = Math.min(LONGEST_PASSAGE, binCapacity(TYPICAL_PURPOSE, settings));
  return {
    maxTokens: Math.max(SHORTEST_PASSAGE, capacity),
    countTokens: ({ title, text }) =>
      // As `formatDocuments` writes it, with a number of two digits.
      tokenizer.countTokens(formatDocument(99, { title: neutralizeControls(title), text: neutralizeControls(text) })),
  };
}

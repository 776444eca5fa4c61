/** The scholar tool: finds research papers, in the shipped ones or in a catalogue on the network. */
import type { ToolFunction } from "../../text/tokenizer";
import type { Tool, ToolCost, ToolDocument, ToolNetwork } from "../tool";
import { DEFAULT_SEARCH_RESULTS, type SearchableDocument, searchDocuments } from "./search";

/** Where papers are looked for. */
export interface ScholarSource {
  cost: ToolCost;
  network?: ToolNetwork;
  /** At most `limit` papers, best first; none when nothing fits. @throws Error for System 2 to read */
  find(query: string, limit: number, signal?: AbortSignal): Promise<ToolDocument[]>;
}

export const SCHOLAR_FUNCTION: ToolFunction = {
  name: "scholar",
  description: "Finds research papers.",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, description: "words to look for" },
      purpose: { type: "string", minLength: 1, description: "what you need to know" },
    },
    required: ["query", "purpose"],
  },
};

/** Papers at hand, for instance the documents of a world made with `corpus: "papers"`. Sends nothing anywhere. */
export function shippedPapers(papers: readonly SearchableDocument[]): ScholarSource {
  return {
    cost: { requests: 0 },
    find: async (query, limit) => searchDocuments(papers, query, limit),
  };
}

/**
 * The tool that System 2 calls as `scholar`, returning at most `results` papers a call.
 * @throws RangeError when `results` is not a positive integer
 */
export function scholarTool(source: ScholarSource, results = DEFAULT_SEARCH_RESULTS): Tool {
  if (!Number.isSafeInteger(results) || results < 1) {
    throw new RangeError(`results must be a positive integer; got ${results}`);
  }
  const { cost, network, find } = source;
  return {
    function: SCHOLAR_FUNCTION,
    cost,
    ...(network && { network }),
    async run(args, signal) {
      const query = String(args.query);
      const papers = await find(query, results, signal);
      if (papers.length === 0) throw new Error(`No paper matches "${query}". Try other words.`);
      return papers;
    },
  };
}

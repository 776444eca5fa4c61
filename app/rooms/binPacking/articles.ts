/** The generated articles with their lengths as the shipped System 1 counts them: its tokenizer, not its weights. */
import { makeWorld, openReader, type Reader, urlSource } from "../../../src/index";
import { RESEARCH_AGENT, shippedFiles } from "../../models";
import type { DocumentPool } from "./documents";

let reader: Promise<Reader> | undefined;

/** Fetched once. @throws CheckpointError naming the file */
export function shippedReader(): Promise<Reader> {
  const { url, files } = shippedFiles(RESEARCH_AGENT);
  reader ??= openReader(urlSource(url, { label: RESEARCH_AGENT, ...(files && { files }) })).catch((error: unknown) => {
    // The next call tries again.
    reader = undefined;
    throw error;
  });
  return reader;
}

/** Articles that are counted before the page gets its turn. */
const SLICE = 8;

/** All articles of a world. @throws the reader's errors, and the signal's reason */
export async function articlesOf(world: number, signal: AbortSignal): Promise<DocumentPool> {
  const { documentTokens, capacity } = await shippedReader();
  const { documents } = makeWorld(world);
  const counted: { tokens: number; title: string }[] = [];
  for (const [i, document] of documents.entries()) {
    // Each by itself: its number within a result is not known here.
    const [tokens = 0] = documentTokens([document]);
    counted.push({ tokens, title: document.title });
    if (i % SLICE === SLICE - 1) await new Promise<void>((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
  return { documents: counted, capacity };
}

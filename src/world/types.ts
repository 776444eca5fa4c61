/** What the synthetic encyclopedia consists of. See index.ts for how a world is made from a seed. */

export interface WorldDocument {
  id: string;
  title: string;
  text: string;
}

export type QuestionKind = "lookup" | "arithmetic";

export interface WorldQuestion {
  id: string;
  text: string;
  /** How many facts must be looked up, one after another or side by side. */
  hops: number;
  kind: QuestionKind;
  /** Accepted answers; the first is the canonical one. */
  gold: string[];
  /** The facts in the order in which they are needed, as purposes and answers. */
  chain: { subject: string; relation: string; object: string }[];
  /** Ids of the documents that hold the chain's facts. */
  goldDocuments: string[];
}

export interface World {
  seed: number;
  documents: WorldDocument[];
  questions: WorldQuestion[];
}

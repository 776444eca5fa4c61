/**
 * A seeded fictional corpus with questions about it. Answers can only come from reading: every name is invented anew
 * from the seed. Training draws from seeds of TRAINING_SEEDS and above, evaluation and the page from those below.
 */
import { type Article, writeArticle } from "./articles";
import { type Entity, makeEntities } from "./entities";
import { makeQuestion } from "./questions";
import { type CorpusSchema, ENCYCLOPEDIA, PAPERS } from "./schema";
import type { World } from "./types";

export const TRAINING_SEEDS = 1_000_000;

export type CorpusId = CorpusSchema["id"];

export interface WorldOptions {
  /** Which corpus. Default "encyclopedia". */
  corpus?: CorpusId;
  /** Entities of every kind. Default 16: 160 articles, or 96 papers and what they mention. */
  perKind?: number;
  /** How many questions. Default 100. */
  questions?: number;
}

/** Everything about a world, for makers of training data. */
export interface DetailedWorld extends World {
  entities: Entity[];
  /** Aligned with entities and documents. */
  articles: Article[];
}

const ARTICLE_STREAMS = 1_000;
const QUESTION_STREAMS = 1_000_000;

export function makeDetailedWorld(seed: number, options: WorldOptions = {}): DetailedWorld {
  const { corpus = "encyclopedia", perKind = 16, questions = 100 } = options;
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new RangeError(`world seed must be a whole number >= 0, not ${seed}`);
  if (!Number.isInteger(perKind) || perKind < 2)
    throw new RangeError(`perKind must be a whole number >= 2, not ${perKind}`);
  if (!Number.isInteger(questions) || questions < 0) {
    throw new RangeError(`questions must be a whole number >= 0, not ${questions}`);
  }
  const schema = corpus === "papers" ? PAPERS : ENCYCLOPEDIA;
  const entities = makeEntities(schema, seed, perKind);
  const articles = entities.map((entity, i) => writeArticle(entity, entities, seed, ARTICLE_STREAMS + i));
  return {
    seed,
    entities,
    articles,
    documents: articles.map(({ id, title, text }) => ({ id, title, text })),
    questions: Array.from({ length: questions }, (_, i) => makeQuestion(entities, seed, i, QUESTION_STREAMS)),
  };
}

/** The documents and questions of a seed. Throws a RangeError that names a bad option. */
export function makeWorld(seed: number, options: WorldOptions = {}): World {
  const { documents, questions } = makeDetailedWorld(seed, options);
  return { seed, documents, questions };
}

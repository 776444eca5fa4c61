/** `research`: one question through the dual-system loop, over a shipped corpus or one's own files. */
import { fitDocuments } from "../../corpus/passages";
import { type Corpus, readCorpus } from "../../corpus/readCorpus";
import { type ResearchResult, type ResearchTurn, research } from "../../dual/loop";
import type { Tool } from "../../dual/tool";
import { NetworkSwitch } from "../../dual/tools/network";
import { openAlex } from "../../dual/tools/openAlex";
import { type PassageSize, passageSize } from "../../dual/tools/passageSize";
import { scholarTool, shippedPapers } from "../../dual/tools/scholar";
import type { SearchableDocument } from "../../dual/tools/search";
import { standardTools } from "../../dual/tools/standard";
import { wikipediaTool } from "../../dual/tools/wikipedia";
import type { Ledger } from "../../trace/events";
import type { WorldQuestion } from "../../world/types";
import { type CorpusId, makeWorld } from "../../world/world";
import { type CliContext, command, type WebAccess } from "../command";
import { dualOptions, dualSettings, jsonFlag, MAX_SEED, samplingOptions } from "../modelOptions";
import { filesAt, readCMap } from "../nodeCorpus";
import { choice, integer, text, texts, UsageError } from "../options";
import { seconds, table } from "../table";

const DEFAULT_WORLD = 1;
/** A typed question that is one of this many of its world is graded. */
const KNOWN_QUESTIONS = 100;
const SHIPPED: readonly CorpusId[] = ["encyclopedia", "papers"];

export const researchCommand = command({
  name: "research",
  summary: "answers one question over a corpus, by two systems",
  examples: [
    "research --seed 7 --index 3",
    'research --question "Where was Mira Tolen born?" --seed 7 --json',
    "research --seed 7 --index 3 --no-system1",
    'research --question "Who signed the contract?" --corpus contracts/ notes.md report.pdf',
    'research --question "How long is the Oder?" --wikipedia en',
  ],
  options: {
    question: text({ value: "Q", help: "the question, about the world of --seed or your own files" }),
    seed: integer({
      value: "S",
      min: 0,
      max: MAX_SEED,
      fallback: DEFAULT_WORLD,
      help: "of the world, and of sampling",
    }),
    index: integer({
      value: "I",
      min: 0,
      max: 99_999,
      help: "instead of --question: number of a question of the world",
    }),
    ...dualOptions,
    corpus: texts({
      value: "NAME|PATH...",
      fallback: ["encyclopedia"],
      help: "encyclopedia, papers, or your own files and folders",
    }),
    scholar: choice({
      value: "SOURCE",
      choices: ["none", "papers", "openalex"],
      fallback: "none",
      help: "adds the tool scholar: over shipped papers, or OpenAlex on the network",
    }),
    wikipedia: text({ value: "LANGUAGE", help: "adds the tool wikipedia, which uses the network: en, de, ..." }),
    ...samplingOptions,
    json: jsonFlag,
  },
  async run(values, { out, err, models, python, web }) {
    const { seed } = values;
    const shipped = values.corpus.length === 1 ? SHIPPED.find((name) => name === values.corpus[0]) : undefined;
    const picked = pick(values.question, values.index, seed, shipped);
    const found = await models.find(values.model, { engine: values.engine, weights: values.weights });
    const settings = dualSettings(values, seed);
    const size = passageSize({ model: found, capacity: settings.capacity, maxTokens: settings.system1MaxTokens });
    const own = shipped ? undefined : await readOwn(values.corpus, size, err);
    const { question, gold } = picked;
    const tools = [
      ...standardTools(own?.documents ?? fitDocuments(picked.documents, size), python, values["search-results"]),
      ...furtherTools(values, size, web),
    ];
    for (const { network } of tools) if (network) err(`${network.notice}\n`);
    const model = await found.load();
    const result = await research(question, {
      system2: model,
      tools,
      corpus: shipped ? `${shipped} ${seed}` : values.corpus.join(" "),
      gold,
      ...settings,
    });
    if (result.reason === "error") throw result.error;
    const { turns, ledger, reason, correct } = result;
    const answer = result.answer ?? null;
    const corpus = own && { files: own.files.map(summaryOf), skipped: own.skipped };
    if (values.json) out(`${JSON.stringify({ question, answer, gold, correct, reason, turns, ledger, corpus })}\n`);
    else out(report(question, gold, result));
  },
});

interface Picked {
  /** Of the shipped corpus; none when the corpus is one's own. */
  documents: SearchableDocument[];
  question: string;
  gold: string[] | undefined;
}

function pick(
  typed: string | undefined,
  index: number | undefined,
  seed: number,
  corpus: CorpusId | undefined,
): Picked {
  if ((typed === undefined) === (index === undefined)) {
    throw new UsageError("give either --question or --index");
  }
  if (corpus === undefined) {
    if (typed === undefined) throw new UsageError("--index needs a shipped corpus; ask your own files a --question");
    return { documents: [], question: typed, gold: undefined };
  }
  const { documents, questions } = makeWorld(seed, {
    corpus,
    questions: index === undefined ? KNOWN_QUESTIONS : index + 1,
  });
  if (index !== undefined) {
    const { text: question, gold } = questions[index] as WorldQuestion;
    return { documents, question, gold };
  }
  const question = typed as string;
  return { documents, question, gold: questions.find((known) => known.text === question)?.gold };
}

/** Reads one's own files and says on standard error what became of them. @throws UsageError when nothing is left */
async function readOwn(paths: readonly string[], size: PassageSize, err: CliContext["err"]): Promise<Corpus> {
  const corpus = await readCorpus(await filesAt(paths), { ...size, readCMap });
  const { documents, files, skipped } = corpus;
  for (const { name, reason } of skipped) err(`skipped: ${name} ${reason}\n`);
  for (const { name, warnings } of files) for (const warning of warnings) err(`note: ${name}: ${warning}\n`);
  if (documents.length === 0) throw new UsageError(`--corpus: there is nothing to read in ${paths.join(", ")}`);
  err(`corpus: ${documents.length} passages of at most ${size.maxTokens} tokens from ${files.length} files\n`);
  return corpus;
}

function summaryOf({ name, kind, title, passages, warnings }: Corpus["files"][number]) {
  return { name, kind, title, passages, warnings };
}

interface FurtherTools {
  scholar: "none" | "papers" | "openalex";
  wikipedia: string | undefined;
  seed: number;
}

/** Tools that are off unless an option names them; that is the permission to use the network, too. */
function furtherTools({ scholar, wikipedia, seed }: FurtherTools, size: PassageSize, web: WebAccess): Tool[] {
  const { fetch, headers, openAlexKey: apiKey } = web;
  const http = { network: new NetworkSwitch(true), fetch, headers };
  const tools: Tool[] = [];
  if (scholar === "papers") {
    tools.push(scholarTool(shippedPapers(makeWorld(seed, { corpus: "papers", questions: 0 }).documents)));
  }
  if (scholar === "openalex") tools.push(scholarTool(openAlex({ ...http, apiKey })));
  if (wikipedia !== undefined) {
    try {
      tools.push(wikipediaTool({ ...http, ...size, language: wikipedia }));
    } catch (error) {
      throw new UsageError(`--wikipedia: ${(error as Error).message}`);
    }
  }
  return tools;
}

function report(question: string, gold: string[] | undefined, result: ResearchResult): string {
  const lines = [question, ""];
  for (const { turn, thought, call, documents, bins, refined, error, promptTokens, outputTokens, ms } of result.turns) {
    lines.push(`Turn ${turn}  (${promptTokens} tokens read, ${outputTokens} written, ${seconds(ms)})`);
    if (thought) lines.push(indent("thought", thought));
    if (call) {
      const { purpose, ...args } = call.arguments;
      lines.push(indent(call.name, Object.values(args).join(", ")), indent("purpose", String(purpose)));
    }
    if (documents) {
      const tokens = documents.reduce((sum, document) => sum + document.tokens, 0);
      lines.push(
        indent("found", `${documents.length} documents, ${tokens} tokens${bins ? `, ${bins.length} bins` : ""}`),
      );
    }
    const sources = documents?.flatMap(sourceOf) ?? [];
    if (sources.length > 0) lines.push(indent("sources", [...new Set(sources)].join("\n")));
    if (refined !== undefined) lines.push(indent("reads", refined));
    if (error !== undefined) lines.push(indent("reads", error));
    lines.push("");
  }
  lines.push(indent("answer", result.answer ?? `none (${result.reason})`));
  if (gold) lines.push(indent("gold", `${gold[0]} (${result.correct ? "right" : "wrong"})`));
  return `${lines.join("\n")}\n\n${ledgerTable(result.ledger)}\n`;
}

/** Where a document stands, as a person looks it up. */
function sourceOf({ source }: NonNullable<ResearchTurn["documents"]>[number]): string[] {
  if (!source) return [];
  if (source.kind === "web") return [source.url];
  const { file, page, row, line } = source;
  const place = page ? `, page ${page}` : row ? `, row ${row}` : line ? `, line ${line}` : "";
  return [`${file}${place}`];
}

function indent(label: string, body: string): string {
  return `  ${label.padEnd(8)} ${body.trimEnd().replaceAll("\n", "\n           ")}`;
}

export function ledgerTable(ledger: Ledger): string {
  return table(
    ["tokens", "count"],
    [
      ["documents read", ledger.rawTokens],
      [`System 1 in (${ledger.system1Calls} bins)`, ledger.system1PromptTokens],
      ["System 1 out", ledger.system1OutputTokens],
      ["System 2 out", ledger.system2OutputTokens],
      ["System 2 context", ledger.system2ContextTokens],
      ["  without System 1", ledger.system2ContextWithoutSystem1],
    ],
  );
}

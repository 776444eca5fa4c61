/** Research for the page: the worlds by seed, the visitor's own documents, and the tools that a request asks for. */
import { fitDocuments } from "../corpus/passages";
import { inputFile } from "../corpus/readCorpus";
import { researchBatch } from "../dual/batch";
import { type ResearchResult, research } from "../dual/loop";
import { largestCapacity, measurePacking } from "../dual/measurePacking";
import type { ReaderSettings } from "../dual/system1";
import type { Tool } from "../dual/tool";
import type { HttpSettings } from "../dual/tools/http";
import { NetworkSwitch } from "../dual/tools/network";
import { openAlex } from "../dual/tools/openAlex";
import { passageSize } from "../dual/tools/passageSize";
import { type PythonRunner, pythonTool } from "../dual/tools/python";
import { scholarTool, shippedPapers } from "../dual/tools/scholar";
import { SEARCH_FUNCTION, type SearchableDocument, searchTool } from "../dual/tools/search";
import { wikipediaTool } from "../dual/tools/wikipedia";
import type { LanguageModel } from "../model/languageModel";
import type { TraceSink } from "../trace/events";
import { purposeOf } from "../world/questions";
import type { World, WorldQuestion } from "../world/types";
import { type CorpusId, makeWorld } from "../world/world";
import { DocumentShelf, sizeKey } from "./documentShelf";
import { EngineError } from "./problems";
import type { MessageSink, ResearchRequest, WorldSummary } from "./protocol";
import type {
  BatchRequest,
  MeasureOutcome,
  MeasureRequest,
  OwnCorpus,
  ReadOutcome,
  ReadRequest,
  Site,
} from "./researchProtocol";

/** Whose sentences fill the documents of a measurement. */
const MEASURED_WORLD = 7;
const DEFAULT_TOOLS: NonNullable<ResearchRequest["tools"]> = {
  search: true,
  python: true,
  scholar: "off",
  wikipedia: false,
};
/** Requests of one answer, each of which may take the whole time of one. */
const ATTEMPTS = 3;

export class ResearchDesk {
  private readonly worlds = new Map<CorpusId, World>();
  private readonly shelf: DocumentShelf;
  private readonly sites: Record<Site, NetworkSwitch> = {
    openalex: new NetworkSwitch(),
    wikipedia: new NetworkSwitch(),
  };
  private reading: AbortController | undefined;
  private shipped: { key: string; documents: readonly SearchableDocument[] } | undefined;

  constructor(
    private readonly model: (id: string) => LanguageModel,
    private readonly python: PythonRunner,
    private readonly post: MessageSink["postMessage"],
    readCMap?: (name: string) => Promise<Uint8Array>,
  ) {
    this.shelf = new DocumentShelf(readCMap);
  }

  world(seed: number, corpus: CorpusId): WorldSummary {
    const { documents, questions } = this.worldOf(seed, corpus);
    return {
      seed,
      corpus,
      articles: documents.length,
      questions: questions.map(({ text, hops, kind, gold }) => ({ text, hops, kind, gold })),
    };
  }

  allow(site: Site, allowed: boolean): void {
    if (allowed) this.sites[site].allow();
    else this.sites[site].forbid();
  }

  async run(request: ResearchRequest, signal: AbortSignal, onEvent: TraceSink): Promise<ResearchResult> {
    const { question, gold, branch } = request;
    return research(question, {
      ...(await this.options(request, signal)),
      onEvent,
      ...(gold && { gold }),
      ...(branch && { branch }),
    });
  }

  /** Tells each result as it comes. @throws the first failure, or the signal's reason after an abort */
  async batch({ settings, questions }: BatchRequest, signal: AbortSignal): Promise<void> {
    const { run, world, corpus } = settings;
    const asked =
      "given" in questions
        ? questions.given
        : makeWorld(world, {
            corpus: corpus === "papers" ? "papers" : "encyclopedia",
            questions: questions.generated,
          }).questions;
    await researchBatch(asked, {
      ...(await this.options(settings, signal)),
      onResult: (result) => this.post({ type: "batchResult", run, result }),
    });
  }

  /** @throws what the model's absence throws; the signal's reason after an abort */
  async measure(request: MeasureRequest, signal: AbortSignal): Promise<MeasureOutcome> {
    const { run, lengths, capacity, algorithms, parallel, repetitions } = request;
    const model = this.model(request.model);
    const { documents, questions } = this.worldOf(MEASURED_WORLD, "encyclopedia");
    const [{ subject, relation }] = (questions[0] as WorldQuestion).chain as [WorldQuestion["chain"][number]];
    const purpose = purposeOf(relation, subject);
    const most = largestCapacity(model, purpose);
    if (capacity > most) return { status: "tooLarge", most };
    const sentences = documents.flatMap(({ text }) => text.split(/(?<=[.!?])\s+/));
    const rows = await measurePacking({
      ...{ model, lengths, capacity, algorithms, repetitions, purpose, sentences, signal },
      ...(parallel !== undefined && { parallel }),
      onProgress: (done, total) => this.post({ type: "measureProgress", run, done, total }),
    });
    return { status: "finished", rows };
  }

  private async options(request: ResearchRequest, signal: AbortSignal) {
    const { useSystem1, capacity, searchResults, maxTurns, temperature, seed, packing, parallel } = request;
    const { system1Model = request.model, system2Model = request.model } = request;
    const [system1, system2] = [this.model(system1Model), this.model(system2Model)];
    // Whoever reads what tools return decides how long it may be.
    const model = useSystem1 ? system1 : system2;
    return {
      system1,
      system2,
      tools: await this.tools(request, { model, ...(capacity !== undefined && { capacity }) }, signal),
      corpus: corpusName(request, this.shelf.corpus),
      ...(capacity !== undefined && { capacity }),
      maxTurns,
      useSystem1,
      searchResults,
      ...(packing && { packing }),
      ...(parallel !== undefined && { parallel }),
      sampling: { temperature, seed },
      signal,
    };
  }

  /** In the order in which System 2's prompt lists them. @throws EngineError when there is nothing to search */
  private async tools(request: ResearchRequest, reader: ReaderSettings, signal: AbortSignal): Promise<Tool[]> {
    const { tools: chosen = DEFAULT_TOOLS, searchResults: results, world } = request;
    const papers = () => this.worldOf(world, "papers").documents;
    const tools: Tool[] = [];
    if (chosen.search) tools.push(await this.search(request, reader, signal));
    if (chosen.python) tools.push(pythonTool(this.python));
    if (chosen.scholar === "papers") tools.push(scholarTool(shippedPapers(papers()), results));
    if (chosen.scholar === "openalex") tools.push(scholarTool(this.openAlex(request), results));
    if (chosen.wikipedia) tools.push(this.wikipedia(request, reader));
    return tools;
  }

  /** The tool `search`, wherever it looks: the shipped agents know it by this name. */
  private async search(request: ResearchRequest, reader: ReaderSettings, signal: AbortSignal): Promise<Tool> {
    const { corpus = "encyclopedia", searchResults: results, world } = request;
    switch (corpus) {
      case "encyclopedia":
      case "papers":
        return searchTool(this.shippedDocuments(world, corpus, reader), results);
      case "own": {
        const documents = await this.shelf.documents(reader, signal);
        if (documents.length === 0) throw new EngineError("noDocuments", "no documents of your own have been read");
        return searchTool(documents, results);
      }
      case "wikipedia":
        return { ...this.wikipedia(request, reader, results), function: SEARCH_FUNCTION };
      case "openalex":
        return { ...scholarTool(this.openAlex(request), results), function: SEARCH_FUNCTION };
    }
  }

  private openAlex(request: ResearchRequest) {
    const { openAlexKey: apiKey } = request.network ?? {};
    return openAlex({ ...this.http("openalex", request), ...(apiKey && { apiKey }) });
  }

  private wikipedia(request: ResearchRequest, reader: ReaderSettings, results?: number): Tool {
    const { language } = request.network ?? {};
    return wikipediaTool({
      ...this.http("wikipedia", request),
      ...passageSize(reader),
      ...(language && { language }),
      ...(results !== undefined && { results }),
    });
  }

  private http(site: Site, { network: { timeoutMs } = {} }: ResearchRequest): HttpSettings {
    const network = this.sites[site];
    return { network, ...(timeoutMs !== undefined && { timeoutMs, totalMs: ATTEMPTS * timeoutMs }) };
  }

  /** Ends a reading in progress. */
  cancelReading(): void {
    this.reading?.abort();
  }

  /** @throws what the model's absence throws; anything wrong with a file is in the corpus's list */
  async read({ model, capacity, files }: ReadRequest): Promise<ReadOutcome> {
    this.cancelReading();
    const controller = new AbortController();
    this.reading = controller;
    const { signal } = controller;
    const reader = { model: this.model(model), ...(capacity !== undefined && { capacity }) };
    const inputs = files.map(({ name, file }) => inputFile(file, name));
    try {
      await this.shelf.add(inputs, reader, signal, (progress) => {
        if (!signal.aborted) this.post({ type: "readingProgress", progress });
      });
      return { status: "read", corpus: this.shelf.corpus };
    } catch (error) {
      if (signal.aborted) return { status: "cancelled", corpus: this.shelf.corpus };
      throw error;
    } finally {
      if (this.reading === controller) this.reading = undefined;
    }
  }

  remove(name?: string): OwnCorpus {
    this.cancelReading();
    this.shelf.remove(name);
    return this.shelf.corpus;
  }

  viewSource: DocumentShelf["view"] = (source, quote) => this.shelf.view(source, quote);

  /** The world of a seed; the last one of each corpus is kept, with the search index that belongs to its documents. */
  /** Articles for a System 1, the long ones in passages: the same array as long as nothing changes. */
  private shippedDocuments(seed: number, corpus: CorpusId, reader: ReaderSettings): readonly SearchableDocument[] {
    const size = passageSize(reader);
    const key = `${seed} ${corpus} ${sizeKey(reader, size)}`;
    if (this.shipped?.key !== key) {
      this.shipped = { key, documents: fitDocuments(this.worldOf(seed, corpus).documents, size) };
    }
    return this.shipped.documents;
  }

  private worldOf(seed: number, corpus: CorpusId): World {
    const known = this.worlds.get(corpus);
    if (known?.seed === seed) return known;
    const world = makeWorld(seed, { corpus });
    this.worlds.set(corpus, world);
    return world;
  }
}

/** What the trace calls the corpus. */
function corpusName({ corpus = "encyclopedia", world, network }: ResearchRequest, own: OwnCorpus): string {
  switch (corpus) {
    case "encyclopedia":
      return `world ${world}`;
    case "papers":
      return `papers ${world}`;
    case "own":
      return `own documents: ${own.files.length} files, ${own.passages} passages`;
    case "wikipedia":
      return `Wikipedia (${network?.language ?? "en"})`;
    case "openalex":
      return "OpenAlex";
  }
}

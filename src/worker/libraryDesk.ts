/**
 * Checkpoints that a visitor brings: opened where they lie, and kept in the store. Knows no browser but `fetch`: the
 * store comes from outside, so that tests run it in Node.
 */
import { type Address, decodedPart, fetchFrom, parseAddress } from "../checkpoint/address";
import type { CheckpointSource } from "../checkpoint/checkpoint";
import type { ModelConfig } from "../checkpoint/config";
import { CheckpointError, someOf, weightLike } from "../checkpoint/errors";
import { exportSource, graphPaths, splitPath } from "../checkpoint/exports";
import { checkpointFiles, hubSource, listHubModel } from "../checkpoint/hub";
import { type ListedFile, listCheckpoint } from "../checkpoint/listing";
import { INDEX_FILE, SINGLE_FILE } from "../checkpoint/load";
import { fileListSource, type PickedFile, pickedPaths, urlSource } from "../checkpoint/sources";
import { type CheckpointStore, identityOf, type KeptOrigin } from "../checkpoint/store";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import type {
  CheckpointInfo,
  CheckpointOrigin,
  KeepOutcome,
  LibraryMessage,
  OpenOutcome,
  PlacedFile,
  StoreReport,
} from "./libraryProtocol";
import { parametersOf } from "./loadedModel";
import type { FileShelf } from "./modelFiles";
import { EngineError, problemOf } from "./problems";
import type { EngineProblem } from "./protocol";

/** What both kinds of listing tell a page. */
interface Listing extends Pick<CheckpointInfo, "parameters" | "stored"> {
  files: ListedFile[];
  totalBytes: number;
  config: ModelConfig;
}

/** What an origin has, and where it is. */
interface Found {
  name: string;
  source: CheckpointSource;
  kept: KeptOrigin;
  /** Paths of .onnx files. */
  graphs: string[];
  hasTensors: boolean;
}

interface Opened extends Found {
  listing: Listing;
}

type Ended = { status: "cancelled" } | { status: "failed"; problem: EngineProblem };

export interface LibraryDeskOptions {
  store: CheckpointStore;
  post(message: LibraryMessage): void;
  fetchFile?: typeof fetch;
  /** What the browser says of its storage. */
  estimate?(): Promise<Pick<StoreReport, "usage" | "quota" | "persisted">>;
}

/** Bytes between two messages. */
const REPORT_BYTES = 2 ** 20;

export class LibraryDesk implements FileShelf {
  private readonly opened = new Map<string, Opened>();
  private working: AbortController | undefined;
  private handles = 0;

  constructor(private readonly options: LibraryDeskOptions) {}

  async open(origin: CheckpointOrigin): Promise<OpenOutcome> {
    return this.work(async (signal) => {
      const found = await this.find(origin, signal);
      const listing = await listed(found.source, found.kept.graph, signal);
      return { status: "ready", info: await this.put({ ...found, listing }) } as const;
    });
  }

  async openKept(key: string): Promise<OpenOutcome> {
    return this.work(async (signal) => {
      const source = await this.options.store.source(key);
      const entry = (await this.options.store.list()).find((own) => own.key === key);
      const kept: KeptOrigin = entry?.origin ?? { kind: "files", name: source.label };
      const listing = await listed(source, kept.graph, signal);
      const opened = { name: source.label, source, kept, graphs: [], hasTensors: kept.graph === undefined, listing };
      const identity = identityOf(kept, entry?.files ?? listing.files);
      return { status: "ready", info: { ...(await this.put(opened)), key, identity } };
    });
  }

  async keep(handle: string): Promise<KeepOutcome> {
    return this.work(async (signal) => {
      const { name, source, kept, listing } = this.get(handle);
      const { post, store } = this.options;
      let reported = Number.NEGATIVE_INFINITY;
      const key = await store.keep({ name, origin: kept, files: listing.files }, source, {
        signal,
        // A tokenizer that cannot be used is met before a gigabyte of weights has come.
        check: async (small) => void (await loadTokenizerFrom(small, signal, listing.config.vocabSize)),
        onProgress(loadedBytes, totalBytes) {
          if (signal.aborted || (loadedBytes < totalBytes && loadedBytes - reported < REPORT_BYTES)) return;
          reported = loadedBytes;
          post({ type: "keeping", loadedBytes, totalBytes });
        },
      });
      return { status: "ready", key } as const;
    });
  }

  cancel(): void {
    this.working?.abort();
  }

  async report(): Promise<StoreReport> {
    const { store, estimate } = this.options;
    const figures = await estimate?.().catch(() => ({}));
    try {
      return { checkpoints: await store.list(), ...figures };
    } catch (error) {
      return { checkpoints: [], ...figures, unavailable: (error as Error).message };
    }
  }

  async remove(key: string): Promise<void> {
    await this.options.store.remove(key);
  }

  /** The files of what was opened. @throws EngineError */
  source(handle: string): CheckpointSource {
    return this.get(handle).source;
  }

  /** The files of what was kept. @throws CheckpointError */
  keptSource(key: string): Promise<CheckpointSource> {
    return this.options.store.source(key);
  }

  private get(handle: string): Opened {
    const opened = this.opened.get(handle);
    if (!opened) throw new EngineError("modelFilesMissing", "the checkpoint is not open any more: open it again");
    return opened;
  }

  private async put(opened: Opened): Promise<CheckpointInfo> {
    const handle = `opened-${++this.handles}`;
    this.opened.set(handle, opened);
    const { listing, name, kept, graphs, hasTensors } = opened;
    const { files, totalBytes, parameters, stored, config } = listing;
    const { store } = this.options;
    // Without a store a checkpoint can still be loaded.
    const entry = await store.find(kept).catch(() => undefined);
    const isKept = entry !== undefined && (await store.holds({ origin: kept, files }));
    return {
      handle,
      name,
      files: files.map((file) => ({ name: file.name, bytes: file.bytes })),
      totalBytes,
      parameters,
      config,
      graphs,
      hasTensors,
      identity: identityOf(kept, files),
      ...(stored && { stored }),
      ...(kept.graph !== undefined && { graph: kept.graph }),
      ...(isKept && { key: entry.key }),
      keptBytes: isKept ? totalBytes : Math.min(entry?.bytes ?? 0, totalBytes),
    };
  }

  private async find(origin: CheckpointOrigin, signal: AbortSignal): Promise<Found> {
    const { fetchFile = fetch } = this.options;
    if (origin.kind === "hub") {
      const { id, revision, host } = origin;
      const listing = await listHubModel(origin, { fetchFile, signal });
      const names = listing.files.map(({ name }) => name);
      const hasTensors = names.includes(SINGLE_FILE) || names.includes(INDEX_FILE);
      const graphs = graphPaths(names);
      const graph = chosenGraph(origin, graphs, hasTensors);
      // Says at once what a model lacks that has no checkpoint of this kind.
      if (graph === undefined) checkpointFiles(origin, listing);
      const kept: KeptOrigin = {
        kind: "hub",
        id,
        commit: listing.commit,
        ...(revision !== undefined && { revision }),
        ...(host !== undefined && { host }),
        ...(graph !== undefined && { graph }),
      };
      const of = (folder: string) => hubSource(origin, listing, { folder, fetchFile });
      return { name: id, source: sourceOf(of, graph), kept, graphs, hasTensors };
    }
    if (origin.kind === "url") {
      const { url, graph: own, address } = placeOf(origin.url);
      const name = nameOf(url);
      const options = { label: name, fetchFile: fetchFrom(address, fetchFile) };
      const of = (folder: string) => urlSource(`${url}${folder && `${folder}/`}`, options);
      const model = of("");
      const hasTensors =
        own === undefined && origin.graph === undefined && (await isThere(model, [SINGLE_FILE, INDEX_FILE], signal));
      // A folder behind an address cannot be listed; the two usual places are looked at.
      const graphs = own !== undefined ? [own] : hasTensors ? [] : await usualGraphs(of, model, signal);
      const graph = chosenGraph(origin, graphs, hasTensors);
      const kept: KeptOrigin = { kind: "url", url, ...(graph !== undefined && { graph }) };
      return {
        name,
        source: sourceOf((folder) => (folder === "" ? model : of(folder)), graph),
        kept,
        graphs,
        hasTensors,
      };
    }
    const { name } = origin;
    const picked = origin.files.map(pickedFile);
    const paths = pickedPaths(picked);
    const hasTensors = paths.includes(SINGLE_FILE) || paths.includes(INDEX_FILE);
    const graphs = graphPaths(paths);
    const graph = chosenGraph(origin, graphs, hasTensors);
    const others = weightLike(paths.map((path) => splitPath(path)[1]));
    const hasAny = hasTensors || graph !== undefined || others.some((own) => /^model[.-].*safetensors$/.test(own));
    if (!hasAny && others.length > 0) {
      const has = `there is ${someOf(others)}, and neither ${SINGLE_FILE} nor ${INDEX_FILE}`;
      throw new CheckpointError(`${name}: ${has}: other formats, adapters and other names are not read`);
    }
    const kept: KeptOrigin = { kind: "files", name, ...(graph !== undefined && { graph }) };
    const source = sourceOf((folder) => fileListSource(picked, name, { folder }), graph);
    return { name, source, kept, graphs, hasTensors };
  }

  private async work<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T | Ended> {
    this.cancel();
    const controller = new AbortController();
    this.working = controller;
    try {
      return await run(controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return { status: "cancelled" };
      return { status: "failed", problem: problemOf(error) };
    } finally {
      if (this.working === controller) this.working = undefined;
    }
  }
}

/** What loading will read, of safetensors or of an export. */
async function listed(source: CheckpointSource, graph: string | undefined, signal: AbortSignal): Promise<Listing> {
  if (graph === undefined) {
    const { checkpoint, ...listing } = await listCheckpoint(source, signal);
    return { ...listing, config: checkpoint.config };
  }
  // What reads graphs is a part of its own.
  const { listOnnxExport } = await import("../onnx/listing");
  const listing = await listOnnxExport(source, splitPath(graph)[1], signal);
  return { ...listing, parameters: parametersOf(listing.config) };
}

/** The export that is meant: the wanted one, or the first where there are no safetensors. */
function chosenGraph({ graph }: CheckpointOrigin, graphs: readonly string[], hasTensors: boolean): string | undefined {
  return graph ?? (hasTensors ? undefined : graphs[0]);
}

/** @param of the files of a folder below the model's */
function sourceOf(of: (folder: string) => CheckpointSource, graph: string | undefined): CheckpointSource {
  const model = of("");
  const [folder] = splitPath(graph ?? "");
  return graph === undefined || folder === "" ? model : exportSource(model, of(folder));
}

/**
 * The model's folder, which may stay, the .onnx file that the address names, and what opens its server.
 * @throws CheckpointError
 */
function placeOf(typed: string): { url: string; graph?: string; address: Address } {
  const address = parseAddress(typed);
  if (!address) throw new CheckpointError("this is no address that begins with http:// or https://");
  const { url } = address;
  const graph = /^(.*?\/)(onnx\/)?([^/]+\.onnx)\/?$/.exec(url);
  if (graph) return { url: graph[1] as string, graph: `${graph[2] ?? ""}${graph[3]}`, address };
  // Of an address that was copied from a file, the folder is meant; so it is without the slash at its end.
  const file = /^(.*\/)[^/]+\.(?:json|safetensors|jinja)$/.exec(url);
  return { url: file?.[1] ?? url.replace(/\/*$/, "/"), address };
}

async function usualGraphs(
  of: (folder: string) => CheckpointSource,
  model: CheckpointSource,
  signal: AbortSignal,
): Promise<string[]> {
  const file = "model.onnx";
  if (await isThere(model, [file], signal)) return [file];
  return (await isThere(of("onnx"), [file], signal)) ? [`onnx/${file}`] : [];
}

async function isThere(source: CheckpointSource, names: readonly string[], signal: AbortSignal): Promise<boolean> {
  for (const name of names) if ((await source.size(name, signal)) !== undefined) return true;
  return false;
}

function pickedFile({ path, file }: PlacedFile): PickedFile {
  const { name, size, lastModified } = file;
  return { name, size, lastModified, webkitRelativePath: path, slice: (start, end) => file.slice(start, end) };
}

/** The last parts of an address that say something: "https://host/models/tiny/" is "models/tiny". */
function nameOf(url: string): string {
  const { pathname, host } = new URL(url);
  const parts = pathname.split("/").filter((part) => part !== "" && part !== "resolve" && part !== "main");
  return parts.length > 0 ? parts.slice(-2).map(decodedPart).join("/") : host;
}

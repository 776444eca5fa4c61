/**
 * Checkpoints that a visitor brings: opened where they lie, and kept in the store. Knows no browser but `fetch`: the
 * store comes from outside, so that tests run it in Node.
 */
import type { CheckpointSource } from "../checkpoint/checkpoint";
import { checkpointFiles, hubSource, listHubModel } from "../checkpoint/hub";
import { type CheckpointListing, listCheckpoint } from "../checkpoint/listing";
import { fileListSource, urlSource } from "../checkpoint/sources";
import type { CheckpointStore, KeptOrigin } from "../checkpoint/store";
import type {
  CheckpointInfo,
  CheckpointOrigin,
  KeepOutcome,
  LibraryMessage,
  OpenOutcome,
  StoreReport,
} from "./libraryProtocol";
import type { FileShelf } from "./modelFiles";
import { EngineError, problemOf } from "./problems";
import type { EngineProblem } from "./protocol";

interface Opened {
  name: string;
  source: CheckpointSource;
  origin: KeptOrigin;
  listing: CheckpointListing;
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
      const { name, source, kept } = await this.find(origin, signal);
      const listing = await listCheckpoint(source, signal);
      return { status: "ready", info: await this.put({ name, source, origin: kept, listing }) } as const;
    });
  }

  async openKept(key: string): Promise<OpenOutcome> {
    return this.work(async (signal) => {
      const source = await this.options.store.source(key);
      const entry = (await this.options.store.list()).find((own) => own.key === key);
      const listing = await listCheckpoint(source, signal);
      const origin: KeptOrigin = entry?.origin ?? { kind: "files", name: source.label };
      return { status: "ready", info: { ...(await this.put({ name: source.label, source, origin, listing })), key } };
    });
  }

  async keep(handle: string): Promise<KeepOutcome> {
    return this.work(async (signal) => {
      const { name, source, origin, listing } = this.get(handle);
      const { post, store } = this.options;
      let reported = Number.NEGATIVE_INFINITY;
      const key = await store.keep({ name, origin, files: listing.files }, source, {
        signal,
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
    const { listing, name, origin } = opened;
    const { files, totalBytes, parameters, stored, checkpoint } = listing;
    const { store } = this.options;
    // Without a store a checkpoint can still be loaded.
    const entry = await store.find(origin).catch(() => undefined);
    const isKept = entry !== undefined && (await store.holds({ origin, files }));
    return {
      handle,
      name,
      files: files.map((file) => ({ name: file.name, bytes: file.bytes })),
      totalBytes,
      parameters,
      stored,
      config: checkpoint.config,
      ...(isKept && { key: entry.key }),
      keptBytes: isKept ? totalBytes : Math.min(entry?.bytes ?? 0, totalBytes),
    };
  }

  private async find(origin: CheckpointOrigin, signal: AbortSignal) {
    const { fetchFile = fetch } = this.options;
    if (origin.kind === "hub") {
      const { id, revision, host } = origin;
      const listing = await listHubModel(origin, { fetchFile, signal });
      // Says at once what a model lacks that has no checkpoint of this kind.
      checkpointFiles(origin, listing);
      const kept: KeptOrigin = {
        kind: "hub",
        id,
        commit: listing.commit,
        ...(revision !== undefined && { revision }),
        ...(host !== undefined && { host }),
      };
      return { name: id, source: hubSource(origin, listing, { fetchFile }), kept };
    }
    if (origin.kind === "url") {
      const name = nameOf(origin.url);
      const kept: KeptOrigin = { kind: "url", url: origin.url };
      return { name, source: urlSource(origin.url, { label: name, fetchFile }), kept };
    }
    const kept: KeptOrigin = { kind: "files", name: origin.name };
    return { name: origin.name, source: fileListSource(origin.files, origin.name), kept };
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

/** The last parts of an address that say something: "https://host/models/tiny/" is "models/tiny". */
function nameOf(url: string): string {
  const { pathname, host } = new URL(url);
  const parts = pathname.split("/").filter((part) => part !== "" && part !== "resolve" && part !== "main");
  return parts.length > 0 ? parts.slice(-2).map(decodeURIComponent).join("/") : host;
}

/** The last training run, kept in the browser's database so that it survives a reload. */
import { createStore, del, get, set } from "idb-keyval";
import type { TrainingEvent } from "../trace/trainingEvents";

export interface TrainingRecord {
  /** As LinkTrainer.save writes it. */
  file: Uint8Array<ArrayBuffer>;
  /** The links before any training, as a set; unknown for a run from a file. */
  began?: Uint8Array<ArrayBuffer> | undefined;
  events: TrainingEvent[];
  /** Milliseconds since 1970. */
  savedAt: number;
}

export interface TrainingArchive {
  read(): Promise<TrainingRecord | undefined>;
  /** Replaces what was there. */
  write(record: TrainingRecord): Promise<void>;
  clear(): Promise<void>;
}

const KEY = "last";

export function browserArchive(): TrainingArchive {
  // Opened with the first use: a page without a database still runs models.
  let store: ReturnType<typeof createStore> | undefined;
  const opened = () => {
    store ??= createStore("twinloop-training", "runs");
    return store;
  };
  return {
    read: () => get<TrainingRecord>(KEY, opened()),
    write: (record) => set(KEY, record, opened()),
    clear: () => del(KEY, opened()),
  };
}

/**
 * Calls and messages of the engine worker about checkpoints that are not shipped: opening them at their origin, and
 * keeping them in this browser. Loading what was opened or kept goes through `load`, see loadProtocol.ts.
 */
import type { TensorDtype } from "../checkpoint/checkpoint";
import type { ModelConfig } from "../checkpoint/config";
import type { StoredCheckpoint } from "../checkpoint/store";
import type { EngineProblem } from "./protocol";
import type { Outcome } from "./trainingProtocol";
import type { WeightError } from "./weightError";

/** A file of this machine, with its place in the folder that was chosen or dropped. */
export interface PlacedFile {
  /** As "folder/onnx/model.onnx"; of a loose file its name. */
  path: string;
  file: File;
}

/** Where a visitor says that a checkpoint lies. */
export type CheckpointOrigin = {
  /** An export in ONNX instead of safetensors: the path of its .onnx file below the model's folder. */
  graph?: string;
} & (
  | {
      kind: "hub";
      /** "organisation/name". */
      id: string;
      /** Default "main". */
      revision?: string;
      /** Stays in this worker's memory, and goes to the host only. */
      token?: string;
      /** Address of the hub or of a mirror. */
      host?: string;
    }
  | {
      kind: "url";
      /**
       * Absolute address of the folder; or of an .onnx file, whose model is described beside it or above "onnx/"; or of
       * one of a checkpoint's files, whose folder is meant. A query, name and password in it stay in this worker's
       * memory, and go to the host only.
       */
      url: string;
    }
  | {
      kind: "files";
      /** What the folder is called. */
      name: string;
      files: PlacedFile[];
    }
);

export interface CheckpointInfo {
  /** For `keep`, and for `load` as the origin "opened", for as long as the worker lives. */
  handle: string;
  name: string;
  files: { name: string; bytes: number }[];
  totalBytes: number;
  parameters: number;
  /** Number format of most weights; those of an export are as they are. */
  stored?: TensorDtype;
  /** Of an export in ONNX: its .onnx file. */
  graph?: string;
  /** Exports in ONNX that could be opened in its place (as `graph` of the origin). */
  graphs: string[];
  /** Whether safetensors are there. */
  hasTensors: boolean;
  config: ModelConfig;
  /** The same for two openings of the same bytes, as far as their origins tell. */
  identity: string;
  /** The entry of the store that holds exactly these files. */
  key?: string;
  /** Bytes of them that an interrupted copy has left in the store. */
  keptBytes: number;
}

export type OpenOutcome =
  | { status: "ready"; info: CheckpointInfo }
  | { status: "cancelled" }
  | { status: "failed"; problem: EngineProblem };

export type KeepOutcome =
  | { status: "ready"; key: string }
  | { status: "cancelled" }
  | { status: "failed"; problem: EngineProblem };

export interface StoreReport {
  checkpoints: StoredCheckpoint[];
  /** Bytes that the browser counts for this origin, and that it allows it, where it tells. */
  usage?: number;
  quota?: number;
  /** Whether the browser promises not to delete on its own. */
  persisted?: boolean;
  /** Why nothing can be kept in this browser. */
  unavailable?: string;
}

export interface ContinueRequest {
  /** Id of a loaded model. */
  model: string;
  prompt: string;
  /** Whether the prompt is a user's message in the model's own chat template, or the beginning of a text. */
  chat: boolean;
  /** Of a chat: whether the model thinks first, where its template has a switch for that, as Qwen3's. Default: its own. */
  thinking?: boolean;
  /** Whether tokens are drawn as the checkpoint suggests, or the most probable ones taken. Default false. */
  sampled?: boolean;
  maxTokens: number;
}

export type ContinueOutcome =
  | { status: "finished"; text: string; ids: number[]; promptTokens: number; milliseconds: number }
  | { status: "failed"; problem: EngineProblem };

export type WeightErrorOutcome =
  | { status: "finished"; error: WeightError }
  | { status: "stopped" }
  | { status: "failed"; problem: EngineProblem };

export interface LibraryApi {
  /** Reads configuration and headers, and says what loading will fetch. A later call ends an earlier one. */
  openCheckpoint(origin: CheckpointOrigin): Promise<OpenOutcome>;
  /** Opens what was kept, to see what it is. */
  openKept(key: string): Promise<OpenOutcome>;
  /** Copies an opened checkpoint into the store; messages of type "keeping" tell how far it is. */
  keepCheckpoint(handle: string): Promise<KeepOutcome>;
  /** Ends opening and copying. What was copied of whole files stays, and the next copy goes on from there. */
  cancelLibrary(): void;
  storeReport(): Promise<StoreReport>;
  deleteKept(key: string): Promise<Outcome>;
  /** Writes some greedy tokens, to see that a model works; `stop` ends it with what there is. */
  continueText(request: ContinueRequest): Promise<ContinueOutcome>;
  /**
   * What the fewer bits of a loaded model cost on a shipped text, beside the same files as stored, which are loaded once
   * more for that; messages of type "measuring" tell how far it is, and `stop` ends it.
   */
  measureWeights(model: string): Promise<WeightErrorOutcome>;
}

export type LibraryMessage =
  | { type: "keeping"; loadedBytes: number; totalBytes: number }
  /** Share of the work, 0 to 1. */
  | { type: "measuring"; share: number };

/**
 * Calls and messages of the engine worker about checkpoints that are not shipped: opening them at their origin, and
 * keeping them in this browser. Loading what was opened or kept goes through `load`, see loadProtocol.ts.
 */
import type { TensorDtype } from "../checkpoint/checkpoint";
import type { ModelConfig } from "../checkpoint/config";
import type { StoredCheckpoint } from "../checkpoint/store";
import type { EngineProblem } from "./protocol";
import type { Outcome } from "./trainingProtocol";

/** Where a visitor says that a checkpoint lies. */
export type CheckpointOrigin =
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
      /** Absolute address of the folder. */
      url: string;
    }
  | {
      kind: "files";
      /** What the folder is called. */
      name: string;
      files: File[];
    };

export interface CheckpointInfo {
  /** For `keep`, and for `load` as the origin "opened", for as long as the worker lives. */
  handle: string;
  name: string;
  files: { name: string; bytes: number }[];
  totalBytes: number;
  parameters: number;
  /** Number format of most weights. */
  stored: TensorDtype;
  config: ModelConfig;
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
  maxTokens: number;
}

export type ContinueOutcome =
  | { status: "finished"; text: string; ids: number[]; promptTokens: number; milliseconds: number }
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
}

export interface LibraryMessage {
  type: "keeping";
  loadedBytes: number;
  totalBytes: number;
}

/** Calls and messages of the engine worker about engines and models; see protocol.ts. */
import type { SuggestedSampling } from "../checkpoint/config";
import type { Quantization } from "../checkpoint/quantize";
import { ENGINES, type Engine } from "../model/engines";
import type { EngineProblem } from "./protocol";
import type { Outcome } from "./trainingProtocol";

/** "auto": ours where WebGPU is there and passes the self-test, else onnxruntime-web on the processor. */
export const ENGINE_CHOICES = ["auto", ...ENGINES] as const;
export type EngineChoice = (typeof ENGINE_CHOICES)[number];

/** Known tokens of an agent, beside its config.json (selfTest.ts). */
export const SELF_TEST_FILE = "self_test.json";

/** Where the files of a model lie. Each kind is opened in modelFiles.ts. */
export type ModelOrigin =
  | {
      kind: "url";
      /** Absolute URL of the folder that holds config.json, tokenizer.json and the weights. */
      url: string;
      /** All of its files, where they are known: nothing else is asked for. */
      files?: readonly string[];
    }
  /** What `openCheckpoint` has opened, by its handle. */
  | { kind: "opened"; handle: string }
  /** What `keepCheckpoint` has kept in this browser, by its key. */
  | { kind: "store"; key: string };

export interface ModelSource {
  /** Handle for requests, and what the model is called. The same handle always means the same files. */
  id: string;
  origin: ModelOrigin;
  /** Default "auto". A loaded model whose engine or number format differs is loaded anew and replaced. */
  engine?: EngineChoice;
  /** Number format of the matrices on the engine. Default "stored", which is f32 in onnxruntime-web. */
  weights?: Quantization;
  /** Number format of the key/value cache on our engine. Default "f32". */
  cache?: "f32" | "f16";
  /** Tokens of the longest context, at most what the model has positions for. Default: all of them. */
  context?: number;
  /** Whether latent thoughts, and where the engine can do it gradients, pass through it, besides text. Default false. */
  latent?: boolean;
  /**
   * The model is an export in ONNX (token ids to logits, with past_key_values) instead of safetensors. It runs on
   * onnxruntime-web only, whatever "auto" means for others, with its weights as they are, and gives text only.
   */
  onnx?: {
    /** Default "model.onnx". */
    file?: string;
    /** Folder of that file, where it is not the folder of config.json. */
    origin?: ModelOrigin;
  };
}

export interface LoadRequest {
  /** Loaded beside those that are there already. */
  models: ModelSource[];
  /** Folder of an agent with known tokens (`SELF_TEST_FILE`): "auto" means our engine only where it writes these. */
  selfTest?: ModelOrigin;
}

export interface DeviceInfo {
  engine: Engine;
  /** What the adapter calls itself, as far as the browser tells; for "onnx-wasm" the processor's threads. */
  name: string;
  /** True when the device is a program on the CPU. */
  software: boolean;
}

/** What "auto" came to in this worker. */
export interface EngineVerdict {
  engine: Engine;
  /** Why it is not our own engine. */
  problem?: EngineProblem;
}

export interface ModelInfo {
  id: string;
  engine: Engine;
  weights: Quantization;
  parameters: number;
  layers: number;
  hiddenSize: number;
  vocabSize: number;
  /** Tokens of the longest context. */
  maxPositions: number;
  /** How the checkpoint would have its tokens drawn, where it says so. */
  sampling?: SuggestedSampling;
  /** Whether it is an export in ONNX, which gives text only. */
  isExport: boolean;
  /** Whether it was loaded so that latent thoughts pass through it. */
  latent: boolean;
  /** Whether gradients do as well, so that links can be trained on it. */
  gradients: boolean;
  /** Bytes that the model holds, on the GPU or where its engine has them. */
  liveBytes: number;
}

export type LoadOutcome =
  | {
      status: "ready";
      /** Of the models that were asked for. */
      devices: DeviceInfo[];
      /** Where a model left its engine to us. */
      auto?: EngineVerdict;
      /** Those that were asked for, in that order. */
      models: ModelInfo[];
    }
  | { status: "cancelled" }
  | { status: "failed"; problem: EngineProblem };

export interface LoadApi {
  /**
   * Opens the engines and loads models; those that are loaded already are kept. A later call ends an earlier one.
   * After a failure the models are still there that were before, unless their device is lost.
   */
  load(request: LoadRequest): Promise<LoadOutcome>;
  cancelLoad(): void;
  /** Gives back everything that a model holds. Refused while a run uses the engine; unknown ids are none to unload. */
  unload(id: string): Promise<Outcome>;
}

export type LoadMessage =
  | { type: "progress"; loadedBytes: number; totalBytes: number }
  /** All models that are loaded now; sent whenever that changes. */
  | { type: "models"; models: ModelInfo[] }
  /** A device is lost, and with it the models on it. */
  | { type: "deviceLost"; engine: Engine; problem: EngineProblem };

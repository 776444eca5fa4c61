/** From whatever was thrown to one of the problems that a page has a sentence for. */
import { CheckpointError, DeliveryError, StorageError } from "../checkpoint/errors";
import { DeviceLostError, GpuOutOfMemoryError, GpuUnavailableError } from "../gpu/errors";
import { LinkError } from "../links/linkConfig";
import { RequestError } from "../model/requests";
import { ChatTemplateError } from "../text/chatTemplate";
import { TrainingError } from "../train/settings";
import type { EngineProblem, ProblemKind } from "./protocol";

/** A failure whose kind is known where it happens. */
export class EngineError extends Error {
  override readonly name = "EngineError";

  constructor(
    readonly kind: ProblemKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Names what went wrong. The detail keeps the error's own words, which name the file, tensor or limit. */
export function problemOf(error: unknown): EngineProblem {
  if (error instanceof EngineError) return { kind: error.kind, detail: error.message };
  if (error instanceof ChatTemplateError) return { kind: "noTemplate", detail: error.message };
  if (error instanceof DeliveryError) {
    return { kind: error.reason === "later" ? "serverBusy" : "modelFilesMissing", detail: error.message };
  }
  if (error instanceof StorageError) {
    return { kind: error.reason === "full" ? "storageFull" : "storageBusy", detail: error.message };
  }
  if (error instanceof RequestError) {
    return { kind: error.reason === "tooLong" ? "promptTooLong" : "unknownToken", detail: error.message };
  }
  if (error instanceof CheckpointError) {
    const unreachable =
      /\.(json|safetensors|onnx) is (missing|there)\b|holds weights of .* is missing|the server (answered|sent a web page)|cut short/.test(
        error.message,
      ) || isNetworkFailure(error.cause);
    return { kind: unreachable ? "modelFilesMissing" : "modelInvalid", detail: error.message };
  }
  if (error instanceof TrainingError) return { kind: "trainingInvalid", detail: error.message };
  if (error instanceof LinkError) return { kind: "linksInvalid", detail: error.message };
  const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (error instanceof GpuUnavailableError) {
    // To a visitor, an adapter that refuses to open is no adapter.
    return { kind: error.reason === "deviceRefused" ? "noAdapter" : error.reason, detail };
  }
  if (error instanceof GpuOutOfMemoryError) return { kind: "outOfMemory", detail };
  if (error instanceof DeviceLostError) return { kind: "deviceLost", detail };
  return { kind: "engineFailed", detail };
}

/** What `fetch` throws when a connection fails, in the words of the three engines and of Node. */
function isNetworkFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isFetch = error instanceof TypeError && /fetch|network|load failed|terminated/i.test(error.message);
  return isFetch || isNetworkFailure(error.cause);
}

/**
 * Exports in ONNX beside a model's configuration and tokenizer: which .onnx files there are, and their folder and the
 * model's as one. Hubs keep them in a folder `onnx`, Optimum writes them beside config.json.
 */
import type { CheckpointSource } from "./checkpoint";
import { OTHER_FILES } from "./hub";

const PATH = /^(?:onnx\/)?[\w.-]+\.onnx$/;
/** Of usual exports, the first that is there is proposed. */
const FIRST = ["model.onnx", "onnx/model.onnx", "onnx/model_q4.onnx", "onnx/model_quantized.onnx"];

/** Paths of .onnx files below a model's folder, the usual ones first. */
export function graphPaths(paths: Iterable<string>): string[] {
  const rank = (path: string) => (FIRST.includes(path) ? FIRST.indexOf(path) : FIRST.length);
  return [...paths].filter((path) => PATH.test(path)).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** "onnx/model.onnx" is ["onnx", "model.onnx"]; of a file beside config.json the folder is "". */
export function splitPath(path: string): [folder: string, file: string] {
  const at = path.lastIndexOf("/");
  return [path.slice(0, Math.max(0, at)), path.slice(at + 1)];
}

/** What describes the model from its own folder, and everything else, graph and weights, from the graph's. */
export function exportSource(model: CheckpointSource, graphs: CheckpointSource): CheckpointSource {
  if (model === graphs) return model;
  const of = (name: string) => (OTHER_FILES.includes(name) ? model : graphs);
  const { stream } = graphs;
  return {
    label: model.label,
    file: (name, signal) => of(name).file(name, signal),
    range: (name, start, end, signal) => of(name).range(name, start, end, signal),
    size: (name, signal) => of(name).size(name, signal),
    version: (name) => of(name).version?.(name),
    absence: (name) => of(name).absence?.(name),
    // Both are of one kind.
    ...(stream && { stream: (name: string, signal?: AbortSignal) => of(name).stream!(name, signal) }),
  };
}

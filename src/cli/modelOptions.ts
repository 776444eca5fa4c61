/** Options that several commands share. */
import { QUANTIZATIONS } from "../checkpoint/quantize";
import { DEFAULT_MAX_TURNS } from "../dual/loop";
import { DEFAULT_SEARCH_RESULTS } from "../dual/tools/search";
import { ENGINES } from "../model/engines";
import type { SamplingOptions } from "../model/languageModel";
import { choice, flag, integer, number, text } from "./options";

/** The engine takes whole numbers of 32 bits. */
const MAX_U32 = 2 ** 32 - 1;
export const MAX_SEED = MAX_U32;

export const modelOption = text({
  value: "ID|DIR",
  help: "a folder of public/models, or any folder, or an .onnx file for onnxruntime-web (default: the shipped agent)",
});
export const engineOptions = {
  engine: choice({
    value: "NAME",
    choices: ENGINES,
    fallback: "wgsl",
    help: "our own on WebGPU (wgsl), or onnxruntime-web on the processor or on WebGPU (onnx-wasm, onnx-webgpu)",
  }),
  weights: choice({
    value: "FORMAT",
    choices: QUANTIZATIONS,
    fallback: "stored",
    help: "matrices as stored (f32 in onnxruntime-web), or in 8 or 4 bits (q8, q4)",
  }),
};
export const jsonFlag = flag("one JSON object");

export const samplingOptions = {
  temperature: number({ value: "T", min: 0, max: 100, fallback: 0, help: "0 takes the most probable token" }),
  "top-k": integer({
    value: "K",
    min: 0,
    max: MAX_U32,
    fallback: 0,
    help: "keep the K most probable tokens; 0 keeps all",
  }),
  "top-p": number({
    value: "P",
    above: 0,
    max: 1,
    fallback: 1,
    help: "keep the most probable tokens up to probability P",
  }),
  "min-p": number({ value: "M", min: 0, max: 1, fallback: 0, help: "drop tokens below M times the most probable one" }),
  "repetition-penalty": number({
    value: "R",
    above: 0,
    max: 100,
    fallback: 1,
    help: "above 1 avoids tokens already seen",
  }),
};

export interface SamplingValues {
  temperature: number;
  "top-k": number;
  "top-p": number;
  "min-p": number;
  "repetition-penalty": number;
}

export function samplingOf(values: SamplingValues, seed: number): SamplingOptions {
  return {
    temperature: values.temperature,
    topK: values["top-k"],
    topP: values["top-p"],
    minP: values["min-p"],
    repetitionPenalty: values["repetition-penalty"],
    seed,
  };
}

/** What decides a run of the dual-system loop, beside question and model. */
export const dualOptions = {
  model: modelOption,
  ...engineOptions,
  corpus: choice({
    value: "NAME",
    choices: ["encyclopedia", "papers"],
    fallback: "encyclopedia",
    help: "encyclopedia or papers",
  }),
  "no-system1": flag("System 2 reads the raw documents"),
  capacity: integer({
    value: "C",
    min: 1,
    help: "tokens of documents in a System 1 bin (default: what its prompt leaves)",
  }),
  "system1-tokens": integer({ value: "N", min: 1, max: MAX_U32, help: "new tokens of a System 1 bin at most" }),
  "system2-tokens": integer({ value: "N", min: 1, max: MAX_U32, help: "new tokens of a System 2 message at most" }),
  "max-turns": integer({ value: "N", min: 1, max: 100, fallback: DEFAULT_MAX_TURNS, help: "turns of System 2" }),
  "search-results": integer({
    value: "N",
    min: 1,
    max: 1000,
    fallback: DEFAULT_SEARCH_RESULTS,
    help: "documents a search",
  }),
};

export interface DualValues extends SamplingValues {
  "no-system1": boolean;
  capacity: number | undefined;
  "max-turns": number;
  "system1-tokens": number | undefined;
  "system2-tokens": number | undefined;
  "search-results": number;
}

/** What `research` of src/dual takes for these options. */
export function dualSettings(values: DualValues, seed: number) {
  return {
    useSystem1: !values["no-system1"],
    capacity: values.capacity,
    system1MaxTokens: values["system1-tokens"],
    system2MaxTokens: values["system2-tokens"],
    maxTurns: values["max-turns"],
    searchResults: values["search-results"],
    sampling: samplingOf(values, seed),
  };
}

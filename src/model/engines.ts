/** The engines behind `LanguageModel`, by name. */

/** What computes: our own kernels on WebGPU, or onnxruntime-web on the processor or on WebGPU. */
export const ENGINES = ["wgsl", "onnx-wasm", "onnx-webgpu"] as const;
export type Engine = (typeof ENGINES)[number];

/** The words about engines: which one runs, why, and what it cannot do. */
import type { EngineChoice } from "../../src/worker/loadProtocol";
import type { ProblemKind } from "../../src/worker/protocol";

const CHOICES: Record<EngineChoice, { name: string; help: string }> = {
  auto: {
    name: "Automatic",
    help: "Our engine where this machine passes its self-test, else the processor.",
  },
  wgsl: {
    name: "Our engine (WebGPU)",
    help: "Our own shaders on the graphics device. Does everything, training included.",
  },
  "onnx-wasm": {
    name: "CPU engine (onnxruntime-web)",
    help: "The processor alone, in every browser. Asks and recurses; trains nothing.",
  },
  "onnx-webgpu": {
    name: "onnxruntime-web on WebGPU",
    help: "Another library's shaders on the same device, for comparison. Trains nothing.",
  },
};

/** Why "auto" did not come to our engine, after "because". */
const BECAUSE: Partial<Record<ProblemKind, string>> = {
  noWebGpu: "this browser has no WebGPU",
  insecureContext: "this address is not secure, so the browser keeps WebGPU switched off",
  noAdapter: "WebGPU finds no graphics device here",
  selfTestFailed: "the graphics device did not pass the self-test",
  deviceLost: "the graphics device stopped answering in the self-test",
  outOfMemory: "the graphics device has too little free memory",
};

export const engines = {
  choices: CHOICES,
  open: "Choose the engine",
  title: "What the models run on",
  linkHint: "The choice is part of the address, so that a link reproduces it.",
  busy: "Something is running: it has to end before the engine can be changed.",
  cpu: "CPU engine",
  onnxGpu: "onnxruntime-web",
  came: (name: string) => `Automatic came to: ${name}.`,
  because: (kind: ProblemKind) => BECAUSE[kind] ?? "our engine could not be started",
  details: "Technical reason",
  notice: (why: string) => `Answers come from the CPU engine, because ${why}.`,
  noticeLimits: "Questions and recursions are answered all the same; only links cannot be trained.",
  useCpu: "Go on with the CPU engine",
  needs: {
    training: "Training needs our engine, which runs on WebGPU.",
    why: "Links are trained by gradients, and only our own shaders compute them. What is running here is",
    auto: (why: string) => `It was taken because ${why}.`,
    chosen: "It was chosen at the top of the page, where our engine can be chosen as well.",
    stored: "Training needs agents on our engine, with weights as they are stored.",
    storedWhy: (role: string, model: string) =>
      `Gradients do not pass through the ${role}, ${model}, as it was loaded. Load it anew in the room Models and device, or choose another model in the settings below.`,
    meanwhile: "Links that are trained already can be tried in the room Latent recursion.",
    back: "Choose automatically",
    option: "needs our engine",
  },
} as const;

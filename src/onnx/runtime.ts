/**
 * onnxruntime-web as the engine sees it. It comes from outside (browserRuntime.ts, nodeRuntime.ts), because where its
 * WebAssembly lies differs, and nothing of it is loaded before a model is.
 */
import type * as onnxruntime from "onnxruntime-web";
import { SerialQueue } from "../model/serialQueue";

/** Where models run: on the processor, or on the GPU through onnxruntime's own kernels. */
export const ONNX_PROVIDERS = ["wasm", "webgpu"] as const;
export type OnnxProvider = (typeof ONNX_PROVIDERS)[number];

export type OnnxSession = onnxruntime.InferenceSession;
export type OnnxTensor = onnxruntime.Tensor;
export type OnnxElementType = onnxruntime.Tensor.Type;

export interface ExternalData {
  /** The file's name as the model has it. */
  path: string;
  data: Uint8Array;
}

export class OnnxRuntime {
  /**
   * onnxruntime-web has one memory and one list of mounted files, and refuses calls that overlap: all of its models take
   * turns.
   */
  private readonly queue = new SerialQueue();

  constructor(
    readonly provider: OnnxProvider,
    private readonly library: Pick<typeof onnxruntime, "InferenceSession" | "Tensor">,
  ) {}

  /**
   * @param onGpu outputs that stay on the GPU, where that is the provider
   * @throws Error of onnxruntime-web
   */
  openSession(
    model: Uint8Array,
    externalData: readonly ExternalData[],
    onGpu: readonly string[],
  ): Promise<OnnxSession> {
    return this.queue.run(() =>
      this.library.InferenceSession.create(model, {
        executionProviders: [this.provider],
        externalData,
        // Warnings would tell that sizes are computed on the processor, which is as it should be.
        logSeverityLevel: 3,
        // Threads that wait in a loop take the processor from the page, and from each other where there are few.
        extra: { session: { intra_op: { allow_spinning: "0" } } },
        ...(this.provider === "webgpu" && {
          preferredOutputLocation: Object.fromEntries(onGpu.map((name) => [name, "gpu-buffer" as const])),
        }),
      }),
    );
  }

  run(
    session: OnnxSession,
    feeds: Readonly<Record<string, OnnxTensor>>,
    outputs: readonly string[],
  ): Promise<Readonly<Record<string, OnnxTensor>>> {
    return this.queue.run(() => session.run(feeds, outputs));
  }

  /** Values of a tensor, wherever it is; a tensor on the GPU is given up. */
  read(tensor: OnnxTensor): Promise<OnnxTensor["data"]> {
    return this.queue.run(() => tensor.getData(true));
  }

  release(session: OnnxSession): Promise<void> {
    return this.queue.run(() => session.release());
  }

  tensor(type: "float32" | "int64" | OnnxElementType, data: OnnxTensor["data"], dims: readonly number[]): OnnxTensor {
    return new this.library.Tensor(type as "float32", data as Float32Array, dims);
  }

  /** Without values, but of a size along other axes: what a cache is before anything is in it. */
  emptyTensor(type: OnnxElementType, dims: readonly number[]): OnnxTensor {
    // Older browsers, and Node 20, have no Float16Array; onnxruntime-web takes the bits then.
    return this.tensor(type, type === "float16" ? float16Values(0) : new Float32Array(0), dims);
  }
}

function float16Values(length: number): OnnxTensor["data"] {
  const { Float16Array } = globalThis as { Float16Array?: new (length: number) => Uint16Array };
  return Float16Array ? new Float16Array(length) : new Uint16Array(length);
}

/**
 * Lets other events come: a computation in WebAssembly leaves no gap by itself, and an abort or a message could not get
 * through. Timers would wait for 4 ms.
 */
export function turnOfEvents(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      // An open port keeps Node alive.
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}

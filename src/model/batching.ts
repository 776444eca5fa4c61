/**
 * Joins what many independent callers ask of one model into few large batches. An evaluation that runs hundreds of
 * question loops side by side would otherwise generate for one at a time, and a GPU reads its weights for one row as
 * slowly as for sixty.
 */
import type { GenerateOptions, GenerateRequest, GenerateResult, LanguageModel } from "./languageModel";

export interface BatchingOptions {
  /** Requests in a batch. A single call that brings more is not divided. */
  maxBatch: number;
  /** Prompt tokens and maxTokens of a batch, summed. A single call that brings more is not divided. Default: no limit. */
  maxTokens?: number;
}

/** One call of `generate` that waits or runs. */
interface Call {
  requests: readonly GenerateRequest[];
  options: GenerateOptions;
  /** What has been written so far, for a call that is aborted while its batch goes on. */
  partial: GenerateResult[];
  resolve: (results: GenerateResult[]) => void;
  reject: (error: unknown) => void;
  isSettled: boolean;
  /** Listens to the caller's signal. */
  onAbort: () => void;
}

/**
 * The model with a `generate` that waits until the model is idle and then takes all calls that have come meanwhile as
 * one batch. An aborted call resolves at once with what was written for it; the others are not touched. Should a batch
 * fail before its first token, its calls run one by one, so that a wrong request harms only its own caller.
 */
export function batchRequests(model: LanguageModel, options: BatchingOptions): LanguageModel {
  return new BatchingModel(model, options);
}

class BatchingModel implements LanguageModel {
  private readonly waiting: Call[] = [];
  private isBusy = false;
  private isDisposed = false;

  constructor(
    private readonly model: LanguageModel,
    private readonly limits: BatchingOptions,
  ) {}

  get id() {
    return this.model.id;
  }
  get config() {
    return this.model.config;
  }
  get tokenizer() {
    return this.model.tokenizer;
  }
  get capabilities() {
    return this.model.capabilities;
  }
  get liveBytes() {
    return this.model.liveBytes;
  }

  embed: LanguageModel["embed"] = (ids) => this.model.embed(ids);
  forward: LanguageModel["forward"] = (inputs, options) => this.model.forward(inputs, options);
  read: LanguageModel["read"] = (inputs, options) => this.model.read(inputs, options);

  generate(requests: readonly GenerateRequest[], options: GenerateOptions = {}): Promise<GenerateResult[]> {
    return new Promise((resolve, reject) => {
      if (this.isDisposed) throw new Error(`model ${this.id} has been disposed of`);
      if (requests.length === 0) throw new RangeError("generate: the batch is empty");
      const partial = requests.map((request): GenerateResult => {
        return { ids: [], text: "", finishReason: "aborted", promptTokens: this.promptTokens(request) };
      });
      if (options.signal?.aborted) {
        resolve(partial);
        return;
      }
      const onAbort = () => this.settle(call, () => resolve(partial));
      const call: Call = { requests, options, partial, resolve, reject, isSettled: false, onAbort };
      options.signal?.addEventListener("abort", onAbort);
      this.waiting.push(call);
      this.schedule();
    });
  }

  dispose(): void {
    this.isDisposed = true;
    this.model.dispose();
    const error = new Error(`model ${this.id} has been disposed of`);
    for (const call of this.waiting.splice(0)) this.settle(call, () => call.reject(error));
  }

  private schedule(): void {
    if (this.isBusy) return;
    this.isBusy = true;
    // Callers that were woken together get a turn of the event loop to ask before the batch is closed.
    setTimeout(async () => {
      const batch = this.takeBatch();
      await this.runBatch(batch);
      this.isBusy = false;
      if (this.waiting.length > 0) this.schedule();
    }, 0);
  }

  /** The calls that waited longest and fit together, at least one. */
  private takeBatch(): Call[] {
    const { maxBatch, maxTokens = Number.POSITIVE_INFINITY } = this.limits;
    const batch: Call[] = [];
    let requests = 0;
    let tokens = 0;
    while (this.waiting.length > 0) {
      const call = this.waiting[0]!;
      if (!call.isSettled) {
        requests += call.requests.length;
        tokens += call.requests.reduce((sum, request) => sum + this.promptTokens(request) + request.maxTokens, 0);
        if (batch.length > 0 && (requests > maxBatch || tokens > maxTokens)) break;
        batch.push(call);
      }
      this.waiting.shift();
    }
    return batch;
  }

  private async runBatch(calls: readonly Call[]): Promise<void> {
    if (calls.length === 0) return;
    const owners = calls.flatMap((call) => call.requests.map((_, index) => ({ call, index })));
    const controller = new AbortController();
    // When nobody waits any more, the batch may stop. (Listens after `onAbort`, which settles the call.)
    const check = () => {
      if (calls.every(({ isSettled }) => isSettled)) controller.abort();
    };
    for (const { options } of calls) options.signal?.addEventListener("abort", check);
    let hasTokens = false;
    try {
      const results = await this.model.generate(
        owners.map(({ call, index }) => call.requests[index]!),
        {
          signal: controller.signal,
          onToken: ({ request, id, text }) => {
            hasTokens = true;
            const { call, index } = owners[request]!;
            if (call.isSettled) return;
            const partial = call.partial[index]!;
            partial.ids.push(id);
            partial.text += text;
            call.options.onToken?.({ request: index, id, text });
          },
        },
      );
      let start = 0;
      for (const call of calls) {
        const own = results.slice(start, start + call.requests.length);
        start += call.requests.length;
        this.settle(call, () => call.resolve(own));
      }
    } catch (error) {
      if (calls.length === 1 || hasTokens) {
        for (const call of calls) this.settle(call, () => call.reject(error));
        return;
      }
      for (const call of calls) if (!call.isSettled) await this.runBatch([call]);
    } finally {
      for (const { options } of calls) options.signal?.removeEventListener("abort", check);
    }
  }

  private settle(call: Call, settle: () => void): void {
    if (call.isSettled) return;
    call.isSettled = true;
    call.options.signal?.removeEventListener("abort", call.onAbort);
    settle();
  }

  private promptTokens({ input }: GenerateRequest): number {
    return "ids" in input ? input.ids.length : input.embeddings.length / this.config.hiddenSize;
  }
}

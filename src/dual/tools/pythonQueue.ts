/**
 * A Python interpreter in a worker, kept warm between calls. Calls wait for their turn; one that runs too long or is
 * aborted costs the worker its life, because nothing else stops a program inside WebAssembly.
 */
import { PYTHON_TIME_LIMIT_MS, type PythonRunner } from "./python";
import type { PythonMessage } from "./pythonMessages";

/** Includes the download on a slow line; ordinary loading takes one or two seconds. */
export const PYTHON_LOAD_LIMIT_MS = 120_000;

/** A worker of any kind that loads Python when it starts. */
export interface PythonWorker {
  post(code: string): void;
  terminate(): void;
}

/** Starts a worker, which answers after the call only. A worker that fails by itself must send `crashed`. */
export type PythonWorkerStarter = (onMessage: (message: PythonMessage) => void) => PythonWorker;

export interface PythonLimits {
  /** Milliseconds of one program. */
  timeMs?: number;
  /** Milliseconds until the interpreter must be ready. */
  loadMs?: number;
}

export class PythonQueue implements PythonRunner {
  private interpreter: Interpreter | undefined;
  /** Settles when all calls so far are over. */
  private last: Promise<void> = Promise.resolve();
  private readonly timeMs: number;
  private readonly loadMs: number;

  /** Starts nothing before the first call. */
  constructor(
    private readonly start: PythonWorkerStarter,
    { timeMs = PYTHON_TIME_LIMIT_MS, loadMs = PYTHON_LOAD_LIMIT_MS }: PythonLimits = {},
  ) {
    this.timeMs = timeMs;
    this.loadMs = loadMs;
  }

  async run(code: string, signal?: AbortSignal): Promise<string> {
    const turn = this.last;
    let leave = () => {};
    this.last = new Promise((resolve) => {
      leave = resolve;
    });
    try {
      await untilAborted(turn, signal);
      return await this.runNow(code, signal);
    } finally {
      // An aborted call may leave before its turn has come; the next one must not overtake the one that runs.
      void turn.then(leave);
    }
  }

  /** Ends the interpreter; a call in progress fails. A later call starts a new one. */
  close(): void {
    this.interpreter?.end("Python was closed.");
  }

  private async runNow(code: string, signal: AbortSignal | undefined): Promise<string> {
    const interpreter = this.open();
    try {
      // An abort while Python loads leaves it loading: the next call needs it, too.
      await untilAborted(interpreter.ready, signal);
      const text = untilAborted(interpreter.run(code), signal);
      const seconds = this.timeMs / 1000;
      return await within(this.timeMs, text, `The code ran longer than ${seconds} s and was stopped.`);
    } catch (error) {
      if (interpreter.busy) {
        interpreter.end("Python was stopped.");
        // After an overrun the conversation goes on and may call again soon; after an abort nobody may.
        if (!signal?.aborted) this.open();
      }
      throw error;
    }
  }

  private open(): Interpreter {
    this.interpreter ??= new Interpreter(this.start, this.loadMs, (ended) => {
      if (this.interpreter === ended) this.interpreter = undefined;
    });
    return this.interpreter;
  }
}

/** One worker from its start to its end. */
class Interpreter {
  readonly ready: Promise<void>;
  /** Whether a program runs. */
  busy = false;
  private readonly worker: PythonWorker;
  private readonly loadTimer: ReturnType<typeof setTimeout>;
  private whenReady: Settle<void> | undefined;
  private whenDone: Settle<string> | undefined;
  private ended = false;

  constructor(
    start: PythonWorkerStarter,
    loadMs: number,
    private readonly onEnd: (interpreter: Interpreter) => void,
  ) {
    this.ready = new Promise((resolve, reject) => {
      this.whenReady = { resolve, reject };
    });
    // Whoever waits is told; nobody may wait after an abort.
    this.ready.catch(() => {});
    this.loadTimer = setTimeout(() => this.end(`Python was not ready after ${loadMs / 1000} s.`), loadMs);
    this.worker = start((message) => this.receive(message));
  }

  /** @throws Error with the program's last line of traceback, or with the reason of the worker's end */
  run(code: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.whenDone = { resolve, reject };
      this.busy = true;
      this.worker.post(code);
    });
  }

  /** Ends the worker; whoever waits for it is told the message. */
  end(message: string): void {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.loadTimer);
    this.worker.terminate();
    this.onEnd(this);
    this.whenReady?.reject(new Error(message));
    this.finish()?.reject(new Error(message));
  }

  private receive(message: PythonMessage): void {
    if (this.ended) return;
    if (message.type === "crashed") this.end(message.message);
    else if (message.type === "output") this.finish()?.resolve(message.text);
    else if (message.type === "error") this.finish()?.reject(new Error(message.message));
    else {
      clearTimeout(this.loadTimer);
      this.whenReady?.resolve();
    }
  }

  private finish(): Settle<string> | undefined {
    const { whenDone } = this;
    this.whenDone = undefined;
    this.busy = false;
    return whenDone;
  }
}

interface Settle<T> {
  resolve: (value: T) => void;
  reject: (error: Error) => void;
}

/** What the promise gives, or a rejection with the message when it takes too long. */
function within<T>(ms: number, promise: Promise<T>, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(message)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** What the promise gives, or a rejection with the signal's reason as soon as it aborts. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

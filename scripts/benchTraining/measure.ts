/** The measurements of scripts/benchTraining.mjs. */
import type { OpenGpuOptions } from "../../src/gpu/device";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import type { KeyCache } from "../../src/tensor/keyCache";
import { Tape } from "../../src/tensor/tape";
import { AdamW } from "../../src/train/optimizer";
import { OuterTraining } from "./ours";
import { drawNumbers, SHAPE } from "./workload";

interface Times {
  wallMs: number;
  cpuMs: number;
}

/** How often a kernel's dispatches are repeated to see what they cost. */
const REPEATS = 4;

export async function benchTraining(repetitions: number): Promise<void> {
  const { agents, batch, rounds, latentSteps, promptTokens, suffixTokens, answerTokens } = SHAPE;
  console.log(
    `${agents.length} agents of widths ${agents.map(({ hiddenSize }) => hiddenSize)}, ${batch} questions, ${rounds} ` +
      `rounds, ${latentSteps} latent steps; ${promptTokens.join(" to ")} tokens before the message, ${suffixTokens} ` +
      `after it, answers of ${answerTokens}`,
  );
  const own = await Run.open("kernels of the device");
  const plain = await Run.open("kernels without subgroups", { subgroups: false });
  for (let i = 0; i < repetitions; i++) {
    for (const run of i % 2 === 0 ? [own, plain] : [plain, own]) await run.measure();
  }
  for (const run of [own, plain]) run.report();
  const ratio = best(own.steps).cpuMs / best(plain.steps).cpuMs;
  console.log(
    `a step with the device's kernels takes ${ratio.toFixed(2)} of the processor time of one without subgroups`,
  );
  await own.reportKernels();
  for (const run of [own, plain]) run.close();
}

/** The workload on one device. */
class Run {
  readonly steps: Times[] = [];
  private readonly reading: Times[] = [];
  private readonly optimizer: AdamW;
  private prompts: KeyCache[] = [];
  private first: Times | undefined;
  /** Dispatches of the last step, by kernel. */
  private counts = new Map<string, number>();
  /** The kernel that is repeated. */
  private repeated: string | undefined;

  private constructor(
    private readonly name: string,
    private readonly tape: Tape,
    private readonly training: OuterTraining,
  ) {
    this.optimizer = new AdamW(tape, training.parameters);
    const { queue } = tape;
    const dispatch = queue.dispatch.bind(queue);
    queue.dispatch = (source, bindings, workgroups) => {
      const { label } = source;
      this.counts.set(label, (this.counts.get(label) ?? 0) + 1);
      const times = label === this.repeated ? REPEATS : 1;
      for (let i = 0; i < times; i++) dispatch(source, bindings, workgroups);
    };
  }

  static async open(name: string, options: OpenGpuOptions = {}): Promise<Run> {
    const tape = new Tape(await openNodeGpu(options));
    const run = new Run(name, tape, await OuterTraining.create(tape, SHAPE, drawNumbers(SHAPE)));
    run.first = await timed(async () => {
      await run.read();
      await run.step();
    });
    return run;
  }

  async measure(): Promise<void> {
    this.reading.push(await timed(() => this.read()));
    this.steps.push(await timed(() => this.step()));
  }

  report(): void {
    const { first, reading, steps, counts } = this;
    const dispatches = [...counts.values()].reduce((sum, count) => sum + count, 0);
    console.log(`\n${this.name}`);
    console.log(`  first step, compiling kernels      ${inWords(first as Times)}`);
    console.log(`  reading the prompts, once a batch  ${inWords(best(reading))}`);
    console.log(`  step, ${String(dispatches).padStart(4)} dispatches             ${inWords(best(steps))}`);
  }

  /**
   * What each kernel costs: how much longer a step takes when each of its dispatches is repeated. (What is computed then
   * is wrong, but takes as long.)
   */
  async reportKernels(): Promise<void> {
    const base = best(this.steps);
    const rows: { label: string; count: number; cpuMs: number }[] = [];
    for (const [label, count] of [...this.counts]) {
      this.repeated = label;
      const tries = [await timed(() => this.step()), await timed(() => this.step())];
      rows.push({ label, count, cpuMs: Math.max(0, best(tries).cpuMs - base.cpuMs) / (REPEATS - 1) });
    }
    this.repeated = undefined;
    rows.sort((a, b) => b.cpuMs - a.cpuMs);
    console.log(`\n${this.name}: what the kernels of a step take of ${base.cpuMs.toFixed(0)} ms of one core`);
    for (const { label, count, cpuMs } of rows) {
      const share = `${((100 * cpuMs) / base.cpuMs).toFixed(0)}%`.padStart(4);
      console.log(
        `  ${label.padEnd(42)} ${String(count).padStart(4)} times ${cpuMs.toFixed(0).padStart(6)} ms ${share}`,
      );
    }
  }

  close(): void {
    this.tape.dispose();
    this.tape.gpu.close();
  }

  private async read(): Promise<void> {
    for (const cache of this.prompts) cache.dispose();
    this.prompts = this.training.readPrompts();
    await this.tape.flush();
    await this.tape.gpu.finish();
  }

  private async step(): Promise<void> {
    const { tape, training, optimizer } = this;
    this.counts.clear();
    const loss = tape.scope(() => {
      const result = training.loss(this.prompts);
      tape.backward(result);
      return result;
    });
    await optimizer.update(loss, 1e-3);
    loss.dispose();
  }
}

async function timed(work: () => Promise<unknown>): Promise<Times> {
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(startCpu);
  return { wallMs: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}

function best(times: readonly Times[]): Times {
  return times.reduce((a, b) => (a.cpuMs <= b.cpuMs ? a : b));
}

function inWords({ wallMs, cpuMs }: Times): string {
  return `${wallMs.toFixed(0).padStart(6)} ms passed, ${cpuMs.toFixed(0).padStart(6)} ms of one core`;
}

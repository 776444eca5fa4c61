/** The page of scripts/benchJax.mjs: one outer training step of ours and of jax-js, compared and timed. */
import { blockUntilReady, defaultDevice, init, tree } from "@jax-js/jax";
import { openGpu } from "../../src/gpu/device";
import { Tape } from "../../src/tensor/tape";
import { OuterTraining } from "../benchTraining/ours";
import { drawNumbers, SHAPE, type Shape } from "../benchTraining/workload";
import { JaxTraining } from "./jaxTraining";

interface Engine {
  name: string;
  /** Once more; ends when the device has done it. */
  readPrompts(): Promise<void>;
  step(): Promise<void>;
  results(): Promise<{ loss: number; gradients: Float32Array[] }>;
}

const query = new URLSearchParams(location.search);
const number = (name: string) => Number(query.get(name));

try {
  const tokens = number("promptTokens");
  const agents = SHAPE.agents.slice(0, number("agents"));
  const shape: Shape = {
    ...SHAPE,
    agents,
    batch: number("batch"),
    rounds: number("rounds"),
    promptTokens: [tokens, tokens],
  };
  say({ type: "shape", ...shape, agents: agents.map(({ hiddenSize }) => hiddenSize) });
  const numbers = drawNumbers(shape);
  const { device, engine: ours } = await openOurs(shape, numbers);
  const jax = await openJax(shape, numbers);
  for (const engine of [ours, jax]) {
    const promptMs = await timed(() => engine.readPrompts());
    const stepMs = await timed(() => engine.step());
    say({ type: "first", engine: engine.name, promptMs, stepMs });
  }
  say({ type: "agreement", device, ...compare(await ours.results(), await jax.results()) });
  for (const engine of [ours, jax, jax, ours]) {
    const promptMs = await repeat(number("steps"), () => engine.readPrompts());
    const stepMs = await repeat(number("steps"), () => engine.step());
    say({ type: "times", engine: engine.name, promptMs, stepMs });
  }
  say({ type: "done" });
} catch (error) {
  say({ type: "failed", message: (error as Error).stack });
}

function say(value: unknown) {
  console.log(JSON.stringify(value));
}

async function openOurs(shape: Shape, numbers: ReturnType<typeof drawNumbers>) {
  const gpu = await openGpu();
  const tape = new Tape(gpu);
  const training = await OuterTraining.create(tape, shape, numbers);
  let caches = training.readPrompts();
  const pass = async () => {
    const loss = tape.scope(() => {
      const made = training.loss(caches);
      tape.backward(made);
      return made;
    });
    const value = await loss.item();
    loss.dispose();
    return value;
  };
  const clear = () => {
    for (const parameter of training.parameters) parameter.clearGrad();
  };
  const engine: Engine = {
    name: "ours",
    async readPrompts() {
      for (const cache of caches) cache.dispose();
      caches = training.readPrompts();
      // Read in the device's order: after the prompts.
      const end = tape.tensor([0], 1, 1);
      await end.read();
      end.dispose();
    },
    async step() {
      await pass();
      clear();
    },
    async results() {
      const loss = await pass();
      const gradients: Float32Array[] = [];
      for (const { grad, rows, columns } of training.parameters) {
        gradients.push(grad ? await grad.read() : new Float32Array(rows * columns));
      }
      clear();
      return { loss, gradients };
    },
  };
  return { device: gpu.name, engine };
}

async function openJax(shape: Shape, numbers: ReturnType<typeof drawNumbers>): Promise<Engine> {
  const devices = await init("webgpu");
  if (!devices.includes("webgpu")) throw new Error("jax-js finds no WebGPU device");
  defaultDevice("webgpu");
  const training = await JaxTraining.create(shape, numbers);
  let caches: ReturnType<JaxTraining["readPrompts"]> | undefined;
  const read = async () => {
    if (caches) tree.dispose(caches);
    caches = training.readPrompts();
    await blockUntilReady(caches);
    return caches;
  };
  return {
    name: "jax-js",
    async readPrompts() {
      await read();
    },
    async step() {
      const { loss, gradients } = training.step(caches ?? (await read()));
      await blockUntilReady(gradients);
      await loss.data();
      tree.dispose(gradients);
    },
    async results() {
      const { loss, gradients } = training.step(caches ?? (await read()));
      const found = await Promise.all(gradients.map((gradient) => gradient.data()));
      return { loss: (await loss.data())[0] as number, gradients: found as Float32Array[] };
    },
  };
}

/** Loss of both; the largest difference of a gradient from ours, relative to its matrix's length. */
function compare(ours: Awaited<ReturnType<Engine["results"]>>, theirs: typeof ours) {
  const errors = ours.gradients.map((gradient, i) => {
    const other = theirs.gradients[i] as Float32Array;
    if (other.length !== gradient.length)
      throw new Error(`gradient ${i}: ${gradient.length} and ${other.length} values`);
    return {
      length: Math.hypot(...gradient),
      difference: Math.hypot(...gradient.map((x, j) => x - (other[j] as number))),
    };
  });
  return {
    losses: [ours.loss, theirs.loss],
    gradientsNotZero: errors.filter(({ length }) => length > 0).length,
    gradientError: Math.max(...errors.map(({ length, difference }) => difference / (length || 1))),
  };
}

async function timed(work: () => Promise<void>) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Sorted milliseconds. */
async function repeat(count: number, work: () => Promise<void>) {
  const times: number[] = [];
  for (let i = 0; i < count; i++) times.push(await timed(work));
  return times.sort((x, y) => x - y);
}

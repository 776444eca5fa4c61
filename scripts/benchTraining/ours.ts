/** The computation of workload.ts with src/tensor. */
import { openCheckpoint } from "../../src/checkpoint/load";
import { randomCheckpoint } from "../../src/checkpoint/randomCheckpoint";
import { DifferentiableDecoder } from "../../src/tensor/decoder";
import { loadDecoderTensors } from "../../src/tensor/decoderWeights";
import { KeyCache } from "../../src/tensor/keyCache";
import { add, gelu } from "../../src/tensor/ops/elementwise";
import { linear } from "../../src/tensor/ops/linear";
import { crossEntropy } from "../../src/tensor/ops/losses";
import { concatRows, gatherRows } from "../../src/tensor/ops/rows";
import type { Tape } from "../../src/tensor/tape";
import type { Tensor } from "../../src/tensor/tensor";
import type { LinkMatrices, Matrix, Numbers, Shape } from "./workload";

interface Link {
  first: Tensor;
  second: Tensor;
  residual: Tensor | undefined;
}

/** A training run's state: frozen agents, links, and the keys and values of the prompts. */
export class OuterTraining {
  private constructor(
    readonly tape: Tape,
    readonly shape: Shape,
    readonly numbers: Numbers,
    readonly decoders: readonly DifferentiableDecoder[],
    readonly inner: readonly Link[],
    readonly outer: readonly Link[],
  ) {}

  static async create(tape: Tape, shape: Shape, numbers: Numbers): Promise<OuterTraining> {
    const decoders: DifferentiableDecoder[] = [];
    for (const [seed, config] of shape.agents.entries()) {
      const checkpoint = await openCheckpoint(randomCheckpoint(config, { dtype: "F16", seed }));
      decoders.push(new DifferentiableDecoder(tape, await loadDecoderTensors(tape, checkpoint)));
    }
    const tensor = ({ values, rows, columns }: Matrix, label: string) =>
      tape.tensor(values, rows, columns, { label, requiresGrad: true });
    const link = (name: string) => (matrices: LinkMatrices, i: number) => ({
      first: tensor(matrices.first, `${name}.${i}.first`),
      second: tensor(matrices.second, `${name}.${i}.second`),
      residual: matrices.residual && tensor(matrices.residual, `${name}.${i}.residual`),
    });
    const { inner, outer } = numbers;
    return new OuterTraining(tape, shape, numbers, decoders, inner.map(link("inner")), outer.map(link("outer")));
  }

  /** Trainable matrices. The links after the last agent's answer have none: nothing follows it. */
  get parameters(): Tensor[] {
    return [...this.inner, ...this.outer].flatMap((link) => Object.values(link).filter((t): t is Tensor => !!t));
  }

  /** Keys and values of all prompts, of each agent. */
  readPrompts(): KeyCache[] {
    const { tape, decoders, numbers } = this;
    return decoders.map((decoder, a) => {
      const prompts = numbers.prompts[a] as readonly number[][];
      const cache = new KeyCache(tape);
      tape.noGrad(() =>
        tape.scope(() => {
          const embeddings = decoder.embed(tape.integers(prompts.flat()));
          decoder.read(embeddings, cache.next(prompts.map(({ length }) => length)), cache);
        }),
      );
      return cache;
    });
  }

  /** The loss, [1, 1]; to be called within a scope. */
  loss(prompts: readonly KeyCache[]): Tensor {
    const { tape, shape, numbers, decoders } = this;
    const { batch, rounds, latentSteps, answerTokens } = shape;
    const ones = Array.from({ length: batch }, () => 1);
    let message: Tensor | undefined;
    for (let round = 0; round < rounds; round++) {
      for (const [a, decoder] of decoders.entries()) {
        const isLast = round === rounds - 1 && a === decoders.length - 1;
        const cache = (prompts[a] as KeyCache).fork({ room: isLast ? 0 : latentSteps - 1 });
        const suffix = numbers.suffixes[a] as readonly number[];
        const texts = numbers.answers.map((answer) => (isLast ? [...suffix, ...answer.slice(0, -1)] : suffix));
        const { rows, lengths } = this.joinRows(message, decoder.embed(tape.integers(texts.flat())), texts);
        const last = ones.map((one) => (isLast ? answerTokens : one));
        const hidden = decoder.forward(rows, cache.next(lengths), { cache, last });
        if (isLast) {
          cache.dispose();
          return crossEntropy(hidden, decoder.tensors.head, tape.integers(numbers.answers.flat()));
        }
        const thoughts = [hidden];
        while (thoughts.length < latentSteps) {
          const next = apply(this.inner[a] as Link, thoughts.at(-1) as Tensor);
          thoughts.push(decoder.forward(next, cache.next(ones), { cache }));
        }
        cache.dispose();
        message = apply(this.outer[a] as Link, concatRows(thoughts));
      }
    }
    throw new Error("no rounds");
  }

  /** The message of each sequence, then its text. */
  private joinRows(message: Tensor | undefined, text: Tensor, texts: readonly (readonly number[])[]) {
    const { tape } = this;
    const { batch } = this.shape;
    const steps = (message?.rows ?? 0) / batch;
    if (!message) return { rows: text, lengths: texts.map(({ length }) => length) };
    let next = message.rows;
    const order = texts.flatMap(({ length }, s) => [
      ...Array.from({ length: steps }, (_, t) => t * batch + s),
      ...Array.from({ length }, () => next++),
    ]);
    return {
      rows: gatherRows(concatRows([message, text]), tape.integers(order)),
      lengths: texts.map(({ length }) => steps + length),
    };
  }
}

function apply({ first, second, residual }: Link, hidden: Tensor): Tensor {
  const change = linear(gelu(linear(hidden, first)), second);
  return add(residual ? linear(hidden, residual) : hidden, change);
}

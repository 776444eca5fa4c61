/**
 * The computation that the training benchmarks measure: one step of outer-loop training. Three frozen agents of two
 * widths pass latent thoughts around for some rounds; the last one's answer is scored; gradients flow through all
 * rounds into the links. Everything is drawn from one seed, so that other engines can be given the same numbers.
 */
import type { ModelConfig } from "../../src/checkpoint/config";
import { Random } from "../../src/random/random";

export interface Shape {
  agents: readonly ModelConfig[];
  /** Questions in a batch. */
  batch: number;
  /** Passes around the ring. */
  rounds: number;
  /** Latent thoughts of each message (m). */
  latentSteps: number;
  /** Tokens of each prompt before the message, from the shortest to the longest. */
  promptTokens: readonly [number, number];
  /** Tokens after the message. */
  suffixTokens: number;
  answerTokens: number;
}

function agent(hiddenSize: number, vocabSize: number): ModelConfig {
  return {
    modelType: "qwen3",
    vocabSize,
    hiddenSize,
    intermediateSize: 3 * hiddenSize,
    layers: 4,
    heads: 4,
    kvHeads: 2,
    headDim: 32,
    ropeTheta: 10000,
    rmsNormEps: 1e-6,
    tieWordEmbeddings: true,
    qkvBias: false,
    oBias: false,
    qkNorm: true,
    maxPositions: 256,
    eosIds: [],
  };
}

/** The shapes of the shipped relay agents. */
export const SHAPE: Shape = {
  agents: [agent(128, 1024), agent(96, 1024), agent(128, 1024)],
  batch: 16,
  rounds: 3,
  latentSteps: 4,
  promptTokens: [45, 60],
  suffixTokens: 6,
  answerTokens: 2,
};

/** Numbers of a matrix, [rows, columns]. */
export interface Matrix {
  rows: number;
  columns: number;
  values: Float32Array;
}

/** h + second gelu(first h), and with `residual` the matrix in place of h where widths differ. */
export interface LinkMatrices {
  first: Matrix;
  second: Matrix;
  residual: Matrix | undefined;
}

export interface Numbers {
  /** [agent][sequence] tokens. */
  prompts: readonly (readonly number[][])[];
  /** [agent] tokens, the same for all sequences. */
  suffixes: readonly (readonly number[])[];
  /** [sequence] tokens. */
  answers: readonly (readonly number[])[];
  /** From each agent to itself. */
  inner: readonly LinkMatrices[];
  /** From each agent to the next; the last one's to the first. */
  outer: readonly LinkMatrices[];
}

export function drawNumbers(shape: Shape, seed = 1): Numbers {
  const random = new Random(seed);
  const tokens = (count: number, vocabulary: number) => Array.from({ length: count }, () => random.int(vocabulary));
  const matrix = (rows: number, columns: number, scale: number): Matrix => ({
    rows,
    columns,
    values: Float32Array.from({ length: rows * columns }, () => scale * random.normal()),
  });
  const link = (from: number, to: number, isOuter: boolean): LinkMatrices => ({
    first: matrix(from, from, 1 / Math.sqrt(from)),
    second: matrix(to, from, 0.3 / Math.sqrt(from)),
    residual: isOuter ? matrix(to, from, 0.5 / Math.sqrt(from)) : undefined,
  });
  const { agents, batch, promptTokens, suffixTokens, answerTokens } = shape;
  const widths = agents.map(({ hiddenSize }) => hiddenSize);
  const [shortest, longest] = promptTokens;
  const last = agents.at(-1) as ModelConfig;
  return {
    prompts: agents.map(({ vocabSize }) =>
      Array.from({ length: batch }, () => tokens(shortest + random.int(longest - shortest + 1), vocabSize)),
    ),
    suffixes: agents.map(({ vocabSize }) => tokens(suffixTokens, vocabSize)),
    answers: Array.from({ length: batch }, () => tokens(answerTokens, last.vocabSize)),
    inner: widths.map((width) => link(width, width, false)),
    outer: widths.map((width, i) => link(width, widths[(i + 1) % widths.length] as number, true)),
  };
}

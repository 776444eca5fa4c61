/**
 * The computation of scripts/benchTraining/workload.ts written with jax-js, for prompts of one length. It is written as
 * one would in JAX: dense arrays, keys and values concatenated, `jit` around everything. Arrays are counted references:
 * whoever is handed one uses it up, `.ref` is one more.
 */
import { jit, nn, numpy as np, tree, valueAndGrad } from "@jax-js/jax";
import { decodeTensor } from "../../src/checkpoint/dtype";
import { openCheckpoint } from "../../src/checkpoint/load";
import { randomCheckpoint } from "../../src/checkpoint/randomCheckpoint";
import type { LinkMatrices, Matrix, Numbers, Shape } from "../benchTraining/workload";

type Layer = Record<
  "inputNorm" | "q" | "k" | "v" | "qNorm" | "kNorm" | "output" | "postAttentionNorm" | "gate" | "up" | "down",
  np.Array
>;
type Agent = { embedding: np.Array; finalNorm: np.Array; layers: Layer[]; cos: np.Array; sin: np.Array };
/** [layer], each [batch, rows, kvHeads, headDim]. */
type Cache = { keys: np.Array; values: np.Array }[];
type Link = { first: np.Array; second: np.Array; residual?: np.Array };
type Links = { inner: Link[]; outer: Link[] };
/** [agent] and the last turn's [batch, tokens], and the answers, [batch * answerTokens]. */
type Tokens = { suffixes: np.Array[]; last: np.Array; answers: np.Array };

const EPSILON = 1e-6;

export class JaxTraining {
  private readonly stepJit;
  private readonly readJit;

  private constructor(
    private readonly agents: Agent[],
    private readonly prompts: np.Array[],
    private readonly links: Links,
    private readonly tokens: Tokens,
    shape: Shape,
  ) {
    this.stepJit = jit(
      valueAndGrad((links: Links, agents: Agent[], caches: Cache[], tokens: Tokens) =>
        loss(shape, links, agents, caches, tokens),
      ),
    );
    this.readJit = jit((agents: Agent[], prompts: np.Array[]) => {
      const caches = agents.map((agent, a) =>
        readPrompts(agent, prompts[a] as np.Array, shape.agents[a]?.headDim ?? 0),
      );
      tree.dispose(agents);
      tree.dispose(prompts);
      return caches;
    });
  }

  static async create(shape: Shape, numbers: Numbers): Promise<JaxTraining> {
    const agents: Agent[] = [];
    for (const [seed, config] of shape.agents.entries()) {
      const { tensors } = await openCheckpoint(randomCheckpoint(config, { dtype: "F16", seed }));
      const load = async (name: string) => {
        const tensor = tensors.get(name);
        if (!tensor) throw new Error(`no tensor ${name}`);
        const values = decodeTensor(tensor.dtype, await tensor.read());
        const [rows, columns] = tensor.shape;
        if (columns === undefined || rows === undefined) return floats(values, tensor.shape);
        return name.includes("embed")
          ? floats(values, tensor.shape)
          : floats(transposed(values, rows), [columns, rows]);
      };
      const layers: Layer[] = [];
      for (let i = 0; i < config.layers; i++) {
        const of = (name: string) => load(`model.layers.${i}.${name}.weight`);
        layers.push({
          inputNorm: await of("input_layernorm"),
          q: await of("self_attn.q_proj"),
          k: await of("self_attn.k_proj"),
          v: await of("self_attn.v_proj"),
          qNorm: await of("self_attn.q_norm"),
          kNorm: await of("self_attn.k_norm"),
          output: await of("self_attn.o_proj"),
          postAttentionNorm: await of("post_attention_layernorm"),
          gate: await of("mlp.gate_proj"),
          up: await of("mlp.up_proj"),
          down: await of("mlp.down_proj"),
        });
      }
      const half = config.headDim / 2;
      const angles = Float64Array.from(
        { length: config.maxPositions * half },
        (_, i) => Math.floor(i / half) * config.ropeTheta ** (-(i % half) / half),
      );
      agents.push({
        embedding: await load("model.embed_tokens.weight"),
        finalNorm: await load("model.norm.weight"),
        layers,
        cos: floats(angles.map(Math.cos), [config.maxPositions, half]),
        sin: floats(angles.map(Math.sin), [config.maxPositions, half]),
      });
    }
    const { inner, outer, prompts, suffixes, answers } = numbers;
    const lastSuffix = suffixes.at(-1) ?? [];
    return new JaxTraining(
      agents,
      prompts.map((sequences) => integers(sequences)),
      { inner: inner.map(linkOf), outer: outer.map(linkOf) },
      {
        suffixes: suffixes.map((suffix) => integers(answers.map(() => suffix))),
        last: integers(answers.map((answer) => [...lastSuffix, ...answer.slice(0, -1)])),
        answers: integers([answers.flat()]).reshape([-1]),
      },
      shape,
    );
  }

  readPrompts(): Cache[] {
    return this.readJit(tree.ref(this.agents), tree.ref(this.prompts)) as Cache[];
  }

  /** @returns the loss, and the gradients in the order of OuterTraining.parameters */
  step(caches: Cache[]): { loss: np.Array; gradients: np.Array[] } {
    const [value, found] = this.stepJit(
      tree.ref(this.links),
      tree.ref(this.agents),
      tree.ref(caches),
      tree.ref(this.tokens),
    ) as [np.Array, Links];
    const inOrder = [...found.inner, ...found.outer].flatMap(({ first, second, residual }) =>
      residual ? [first, second, residual] : [first, second],
    );
    return { loss: value, gradients: inOrder };
  }
}

function loss(shape: Shape, links: Links, agents: Agent[], prompts: Cache[], tokens: Tokens): np.Array {
  const { batch, rounds, latentSteps, promptTokens, suffixTokens, answerTokens } = shape;
  let message: np.Array | undefined;
  for (let round = 0; round < rounds; round++) {
    for (const [a, agent] of agents.entries()) {
      const isLast = round === rounds - 1 && a === agents.length - 1;
      const { headDim } = shape.agents[a] as Shape["agents"][number];
      const text = agent.embedding.ref.slice((isLast ? tokens.last : (tokens.suffixes[a] as np.Array)).ref);
      const input = message ? np.concatenate([message, text], 1) : text;
      let position = promptTokens[0];
      const kept = isLast ? answerTokens : 1;
      const first = forward(agent, input, { headDim, position, kept, cache: tree.ref(prompts[a] as Cache) });
      if (isLast) {
        tree.dispose(first.cache);
        const logits = product(first.hidden, np.transpose(agent.embedding.ref));
        const chosen = nn.oneHot(tokens.answers.ref, agent.embedding.shape[0] as number);
        const result = nn
          .logSoftmax(logits)
          .mul(chosen)
          .sum()
          .mul(-1 / (batch * answerTokens));
        for (const used of [links, agents, prompts, tokens]) tree.dispose(used);
        return result;
      }
      position += suffixTokens + (round + a > 0 ? latentSteps : 0);
      let { cache, hidden } = first;
      const thoughts = [hidden.ref];
      while (thoughts.length < latentSteps) {
        const width = hidden.shape[1] as number;
        const next = apply(links.inner[a] as Link, hidden).reshape([batch, 1, width]);
        ({ cache, hidden } = forward(agent, next, { headDim, position: position++, kept: 1, cache }));
        thoughts.push(hidden.ref);
      }
      hidden.dispose();
      tree.dispose(cache);
      const sent = np.stack(thoughts, 1).reshape([batch * latentSteps, -1]);
      message = apply(links.outer[a] as Link, sent).reshape([batch, latentSteps, -1]);
    }
  }
  throw new Error("no rounds");
}

interface Pass {
  headDim: number;
  /** Of the first row. */
  position: number;
  /** Last rows of each sequence that are wanted. */
  kept: number;
  /** Used up. */
  cache: Cache;
}

/** @returns the kept rows after the final norm, [batch * kept, hiddenSize], and the cache with all rows */
function forward(agent: Agent, embeddings: np.Array, { headDim, position, kept, cache }: Pass) {
  const longer: Cache = [];
  let hidden = embeddings;
  agent.layers.forEach((layer, i) => {
    const wanted = i === agent.layers.length - 1 ? kept : (hidden.shape[1] as number);
    const normed = rmsNorm(hidden.ref, layer.inputNorm);
    const own = keysValues(agent, layer, normed.ref, headDim, position);
    const before = cache[i] as Cache[number];
    const keys = np.concatenate([before.keys, own.keys], 1);
    const values = np.concatenate([before.values, own.values], 1);
    longer.push({ keys: keys.ref, values: values.ref });
    hidden = rest(agent, layer, { hidden, normed, keys, values, wanted, headDim });
  });
  const [batch, rows, width] = hidden.shape as [number, number, number];
  return { hidden: rmsNorm(hidden, agent.finalNorm).reshape([batch * rows, width]), cache: longer };
}

/** Keys and values of all prompts, whose last layer needs nothing else. */
function readPrompts(agent: Agent, ids: np.Array, headDim: number): Cache {
  let hidden = agent.embedding.ref.slice(ids.ref);
  return agent.layers.map((layer, i) => {
    const normed = rmsNorm(hidden.ref, layer.inputNorm);
    const { keys, values } = keysValues(agent, layer, normed.ref, headDim, 0);
    if (i < agent.layers.length - 1) {
      const wanted = hidden.shape[1] as number;
      hidden = rest(agent, layer, { hidden, normed, keys: keys.ref, values: values.ref, wanted, headDim });
    } else {
      hidden.dispose();
      normed.dispose();
    }
    return { keys, values };
  });
}

function keysValues(agent: Agent, layer: Layer, normed: np.Array, headDim: number, position: number) {
  const [batch, rows] = normed.shape as [number, number];
  const keys = rmsNorm(product(normed.ref, layer.k).reshape([batch, rows, -1, headDim]), layer.kNorm);
  return {
    keys: rotate(agent, keys, position),
    values: product(normed, layer.v).reshape([batch, rows, -1, headDim]),
  };
}

interface Rest {
  hidden: np.Array;
  normed: np.Array;
  keys: np.Array;
  values: np.Array;
  wanted: number;
  headDim: number;
}

/** Attention and feed-forward of the wanted last rows. */
function rest(agent: Agent, layer: Layer, { hidden, normed, keys, values, wanted, headDim }: Rest): np.Array {
  const [batch, rows] = hidden.shape as [number, number];
  const total = keys.shape[1] as number;
  const lastRows = (x: np.Array) => (wanted === rows ? x : x.slice([], [rows - wanted], []));
  const around = lastRows(hidden);
  const queries = product(lastRows(normed), layer.q).reshape([batch, wanted, -1, headDim]);
  const rotated = rotate(agent, rmsNorm(queries, layer.qNorm), total - wanted);
  const visible = np
    .arange(wanted)
    .reshape([wanted, 1])
    .add(total - wanted);
  const mask =
    wanted > 1 ? np.arange(total).reshape([1, total]).lessEqual(visible).reshape([1, 1, wanted, total]) : undefined;
  const mixed = nn.dotProductAttention(rotated, keys, values, mask && { mask });
  const afterAttention = around.add(product(mixed.reshape([batch, wanted, -1]), layer.output));
  const rowsIn = rmsNorm(afterAttention.ref, layer.postAttentionNorm);
  const gated = nn.silu(product(rowsIn.ref, layer.gate)).mul(product(rowsIn, layer.up));
  return afterAttention.add(product(gated, layer.down));
}

function apply(link: Link, hidden: np.Array): np.Array {
  const change = product(
    nn.gelu(product(hidden.ref, link.first.ref.transpose()), { approximate: false }),
    link.second.ref.transpose(),
  );
  return (link.residual ? product(hidden, link.residual.ref.transpose()) : hidden).add(change);
}

/** Over the last axis. @param x [..., in] @param weight [in, out], not used up */
function product(x: np.Array, weight: np.Array): np.Array {
  const { shape } = x;
  const rows = x.reshape([-1, shape.at(-1) as number]);
  return np.matmul(rows, weight.ref).reshape([...shape.slice(0, -1), weight.shape[1] as number]);
}

/** Over the last axis. @param weight not used up */
function rmsNorm(x: np.Array, weight: np.Array): np.Array {
  const size = np.sqrt(np.square(x.ref).mean(-1, { keepdims: true }).add(EPSILON));
  return x.div(size).mul(weight.ref);
}

/** Rotary embedding, half-split. @param x [batch, rows, heads, headDim], the first row at `position` */
function rotate({ cos, sin }: Agent, x: np.Array, position: number): np.Array {
  const [, rows, , headDim] = x.shape as [number, number, number, number];
  const half = headDim / 2;
  const at = (table: np.Array) => table.ref.slice([position, position + rows]).reshape([rows, 1, half]);
  const first = x.ref.slice([], [], [], [0, half]);
  const second = x.slice([], [], [], [half]);
  return np.concatenate(
    [first.ref.mul(at(cos)).sub(second.ref.mul(at(sin))), second.mul(at(cos)).add(first.mul(at(sin)))],
    -1,
  );
}

/** Frozen matrices are stored as their products read them, which jax-js is faster with. */
function transposed(values: ArrayLike<number>, rows: number): Float32Array {
  const columns = values.length / rows;
  return Float32Array.from(values, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)] as number);
}

function floats(values: ArrayLike<number>, shape: readonly number[]): np.Array {
  return np.array(Float32Array.from(values)).reshape([...shape]);
}

function integers(rows: readonly (readonly number[])[]): np.Array {
  return np.array(Int32Array.from(rows.flat())).reshape([rows.length, -1]);
}

function linkOf({ first, second, residual }: LinkMatrices): Link {
  const array = ({ values, rows, columns }: Matrix) => floats(values, [rows, columns]);
  const link: Link = { first: array(first), second: array(second) };
  if (residual) link.residual = array(residual);
  return link;
}

/**
 * The decoder (qwen2, qwen3, llama, mistral) as an ONNX graph, in plain operators that every execution provider has;
 * only quantized matrices take MatMulNBits of com.microsoft. Reads top to bottom like the model itself. Rows of all
 * sequences stand one below the other, [batch * sequence, width], but for attention.
 *
 * Sequences of a batch are padded on the left: attention_mask is 0 there, and 1 from the first token to the present one.
 */
import type { ModelConfig } from "../checkpoint/config";
import { GROUP_SIZE, zeroCode } from "../checkpoint/quantize";
import { GraphBuilder, type Value } from "./graphBuilder";
import type { OnnxModel } from "./protobuf";
import { rotaryTable, type StoredMatrix, type WeightPlan } from "./weights";

export interface GraphOptions {
  /** "ids": input_ids [batch, sequence]; "embeddings": inputs_embeds [batch, sequence, hidden] in their place. */
  inputs: "ids" | "embeddings";
  /**
   * "all": logits of every position. "last": the further input num_logits_to_keep, a scalar, says of how many of the last
   * ones; 0 means all.
   */
  logits: "all" | "last";
}

export interface DecoderGraph {
  model: OnnxModel;
  /** The input embedding, where the graph has it: for ids, or as its head. */
  embedding: StoredMatrix | undefined;
}

/** Finite, so that a row which sees nothing (padding) gets weights that are numbers. */
const MASKED = -3e38;

const TO_THE_END = Number.MAX_SAFE_INTEGER;

/**
 * The graph, without its weights: what those are and in which order is in `plan` afterwards.
 * @param place where the tensors of the plan will be, in its order
 */
export function decoderGraph(
  config: ModelConfig,
  plan: WeightPlan,
  { inputs, logits }: GraphOptions,
  place: (tensor: { name: string; bytes: number }) => { file: string; offset: number; bytes: number },
): DecoderGraph {
  const { hiddenSize, intermediateSize, heads, kvHeads, headDim, vocabSize, layers, rmsNormEps } = config;
  const qkvHeads = heads + 2 * kvHeads;
  const graph = new GraphBuilder(config.modelType);

  // Inputs, in the order of usual exports.
  const given =
    inputs === "ids"
      ? graph.input("input_ids", "int64", ["batch", "sequence"])
      : graph.input("inputs_embeds", "float", ["batch", "sequence", hiddenSize]);
  const attentionMask = graph.input("attention_mask", "int64", ["batch", "total_sequence"]);
  const positionIds = graph.input("position_ids", "int64", ["batch", "sequence"]);
  const kept = logits === "last" ? graph.input("num_logits_to_keep", "int64", []) : undefined;
  const cacheDims = (length: string) => ["batch", kvHeads, length, headDim];
  const past = Array.from({ length: layers }, (_, layer) => ({
    key: graph.input(`past_key_values.${layer}.key`, "float", cacheDims("past_sequence")),
    value: graph.input(`past_key_values.${layer}.value`, "float", cacheDims("past_sequence")),
  }));

  // The embedding, and the head that may be the same matrix.
  const embeddingName = "model.embed_tokens.weight";
  const table =
    config.tieWordEmbeddings || inputs === "ids" ? plan.matrix("embedding", [embeddingName], plan.headBits) : undefined;
  const embedded = inputs === "ids" ? lookUp(graph, table as StoredMatrix, given) : given;
  let hidden = graph.add("Reshape", [embedded, graph.ints(-1, hiddenSize)]);

  // Sizes that are known when the model runs.
  const shapeOf = (value: Value, from: number, to: number) =>
    graph.add("Shape", [value], { attributes: { start: { int: from }, end: { int: to } } });
  const sizes = graph.within("sizes", () => {
    const batch = shapeOf(positionIds, 0, 1);
    const sequence = shapeOf(positionIds, 1, 2);
    const total = shapeOf(attentionMask, 1, 2);
    const concat = (...parts: Value[]) => graph.add("Concat", parts, { attributes: { axis: { int: 0 } } });
    return {
      batch,
      sequence,
      total,
      qkv: concat(batch, sequence, graph.ints(qkvHeads, headDim)),
      rows: concat(batch, sequence, graph.ints(hiddenSize)),
      scores: concat(batch, graph.ints(heads), sequence, total),
      groupedScores: concat(batch, graph.ints(kvHeads, -1), total),
      logits: concat(batch, graph.ints(-1, vocabSize)),
    };
  });
  const mask = graph.within("mask", () => additiveMask(graph, attentionMask, sizes));
  const [cos, sin] = graph.within("rotary", () => {
    return (["cos", "sin"] as const).map((wave) => {
      const values = plan.table(`rotary.${wave}`, [config.maxPositions, headDim / 2], () =>
        rotaryTable(config, Math[wave]),
      );
      // [batch, sequence, 1, headDim / 2]: the same for all heads.
      return graph.add("Unsqueeze", [graph.add("Gather", [values, positionIds]), graph.ints(2)]);
    });
  }) as [Value, Value];

  const norm = (x: Value, name: string, source: string) => rmsNorm(graph, x, plan.vector(name, [source]), rmsNormEps);
  for (let layer = 0; layer < layers; layer++) {
    const checkpointName = (name: string) => `model.layers.${layer}.${name}`;
    const name = (suffix: string) => `layers.${layer}.${suffix}`;
    const projections = ["q_proj", "k_proj", "v_proj"].map((projection) => checkpointName(`self_attn.${projection}`));
    const weights = (sources: string[]) => sources.map((source) => `${source}.weight`);
    const biases = (sources: string[]) => sources.map((source) => `${source}.bias`);

    hidden = graph.within(`layers.${layer}`, () => {
      const attended = graph.within("attention", () => {
        const normed = norm(hidden, name("inputNorm"), checkpointName("input_layernorm.weight"));
        const qkvRows = linear(
          graph,
          normed,
          plan.matrix(name("qkv"), weights(projections)),
          config.qkvBias ? plan.vector(name("qkvBias"), biases(projections)) : undefined,
        );
        // [batch, sequence, head, headDim]
        const qkv = graph.add("Reshape", [qkvRows, sizes.qkv]);
        const parts = graph.split("Split", [qkv, graph.ints(heads, kvHeads, kvHeads)], 3, {
          attributes: { axis: { int: 2 } },
        });
        let [q, k] = parts as [Value, Value, Value];
        const v = parts[2] as Value;
        if (config.qkNorm) {
          q = norm(q, name("qNorm"), checkpointName("self_attn.q_norm.weight"));
          k = norm(k, name("kNorm"), checkpointName("self_attn.k_norm.weight"));
        }
        q = rotate(graph, q, cos, sin);
        k = rotate(graph, k, cos, sin);
        // The scale of the scores costs least here.
        q = graph.add("Mul", [q, graph.float(1 / Math.sqrt(headDim))]);

        const headsFirst = (x: Value) => graph.add("Transpose", [x], { attributes: { perm: { ints: [0, 2, 1, 3] } } });
        const append = (before: Value, x: Value, output: Value) =>
          graph.addAs(output, "Concat", [before, headsFirst(x)], { attributes: { axis: { int: 2 } } });
        const keys = append(past[layer]!.key, k, `present.${layer}.key`);
        const values = append(past[layer]!.value, v, `present.${layer}.value`);

        // Query heads that share a key/value head are one below the other: [batch, kvHeads, group * sequence, headDim].
        const grouped = graph.add("Reshape", [headsFirst(q), graph.ints(0, kvHeads, -1, headDim)]);
        const keysAcross = graph.add("Transpose", [keys], { attributes: { perm: { ints: [0, 1, 3, 2] } } });
        const scores = graph.add("Reshape", [graph.add("MatMul", [grouped, keysAcross]), sizes.scores]);
        const probabilities = graph.add("Softmax", [graph.add("Add", [scores, mask])], {
          attributes: { axis: { int: -1 } },
        });
        const groupedProbabilities = graph.add("Reshape", [probabilities, sizes.groupedScores]);
        const mixed = graph.add("MatMul", [groupedProbabilities, values]);
        const byHead = graph.add("Reshape", [mixed, graph.ints(0, heads, -1, headDim)]);
        const mixedRows = graph.add("Reshape", [headsFirst(byHead), graph.ints(-1, heads * headDim)]);
        const output = checkpointName("self_attn.o_proj");
        return linear(
          graph,
          mixedRows,
          plan.matrix(name("output"), weights([output])),
          config.oBias ? plan.vector(name("outputBias"), biases([output])) : undefined,
        );
      });
      const between = graph.add("Add", [hidden, attended]);

      const fed = graph.within("feedForward", () => {
        const normed = norm(between, name("postAttentionNorm"), checkpointName("post_attention_layernorm.weight"));
        const both = [checkpointName("mlp.gate_proj"), checkpointName("mlp.up_proj")];
        const gateUp = linear(graph, normed, plan.matrix(name("gateUp"), weights(both)));
        const [gate, up] = graph.split("Split", [gateUp, graph.ints(intermediateSize, intermediateSize)], 2, {
          attributes: { axis: { int: -1 } },
        }) as [Value, Value];
        const silu = graph.add("Mul", [gate, graph.add("Sigmoid", [gate])]);
        const inner = graph.add("Mul", [silu, up]);
        return linear(graph, inner, plan.matrix(name("down"), weights([checkpointName("mlp.down_proj")])));
      });
      return graph.add("Add", [between, fed]);
    });
  }

  const normed = norm(hidden, "finalNorm", "model.norm.weight");
  const lastHidden = graph.addAs("last_hidden_state", "Reshape", [normed, sizes.rows]);
  const head = config.tieWordEmbeddings
    ? (table as StoredMatrix)
    : plan.matrix("head", ["lm_head.weight"], plan.headBits);
  let headRows = normed;
  if (kept !== undefined) {
    // The slice from -0 to the end is everything.
    const from = graph.add("Reshape", [graph.add("Neg", [kept]), graph.ints(1)]);
    const slice = graph.add("Slice", [lastHidden, from, graph.ints(TO_THE_END), graph.ints(1)]);
    headRows = graph.add("Reshape", [slice, graph.ints(-1, hiddenSize)]);
  }
  graph.addAs("logits", "Reshape", [linear(graph, headRows, head), sizes.logits]);

  graph.output("logits", "float", ["batch", logits === "all" ? "sequence" : "kept", vocabSize]);
  for (let layer = 0; layer < layers; layer++) {
    graph.output(`present.${layer}.key`, "float", cacheDims("total_sequence"));
    graph.output(`present.${layer}.value`, "float", cacheDims("total_sequence"));
  }
  graph.output("last_hidden_state", "float", ["batch", "sequence", hiddenSize]);

  for (const { tensors } of plan.groups) {
    for (const tensor of tensors) graph.external(tensor.name, tensor.type, tensor.dims, place(tensor));
  }
  return { model: graph.finish(), embedding: table };
}

/** 0 where a query sees a key, MASKED elsewhere: [batch, 1, sequence, total]. */
function additiveMask(graph: GraphBuilder, attentionMask: Value, sizes: { sequence: Value; total: Value }): Value {
  const scalar = (size: Value) => graph.add("Reshape", [size, graph.ints()]);
  const total = scalar(sizes.total);
  const first = graph.add("Sub", [total, scalar(sizes.sequence)]);
  const range = (from: Value) => graph.add("Range", [from, total, graph.int(1)]);
  const queries = graph.add("Unsqueeze", [range(first), graph.ints(1)]);
  const causal = graph.add("LessOrEqual", [range(graph.int(0)), queries]);
  const present = graph.add("Unsqueeze", [graph.add("Greater", [attentionMask, graph.int(0)]), graph.ints(1, 2)]);
  const visible = graph.add("And", [present, causal]);
  return graph.add("Where", [visible, graph.float(0), graph.float(MASKED)]);
}

/** Over the last axis. Engines know this sequence of nodes and run it as one. */
function rmsNorm(graph: GraphBuilder, x: Value, weight: Value, eps: number): Value {
  const squares = graph.add("Pow", [x, graph.float(2)]);
  const mean = graph.add("ReduceMean", [squares, graph.ints(-1)]);
  const root = graph.add("Sqrt", [graph.add("Add", [mean, graph.float(eps)])]);
  return graph.add("Mul", [graph.add("Div", [x, root]), weight]);
}

/** Turns element i of each head with element i + headDim / 2. @param x [batch, sequence, head, headDim] */
function rotate(graph: GraphBuilder, x: Value, cos: Value, sin: Value): Value {
  const [first, second] = graph.split("Split", [x], 2, {
    attributes: { axis: { int: -1 }, num_outputs: { int: 2 } },
  }) as [Value, Value];
  const times = (a: Value, b: Value) => graph.add("Mul", [a, b]);
  const turned = [
    graph.add("Sub", [times(first, cos), times(second, sin)]),
    graph.add("Add", [times(second, cos), times(first, sin)]),
  ];
  return graph.add("Concat", turned, { attributes: { axis: { int: -1 } } });
}

/** x W^T + b. @param x [rows, width] */
function linear(graph: GraphBuilder, x: Value, matrix: StoredMatrix, bias?: Value): Value {
  if (matrix.kind === "float") {
    const inputs = bias === undefined ? [x, matrix.name] : [x, matrix.name, bias];
    return graph.add("Gemm", inputs, { attributes: { transB: { int: 1 } } });
  }
  const product = graph.add("MatMulNBits", [x, matrix.codes, matrix.scales], {
    domain: "com.microsoft",
    attributes: {
      K: { int: matrix.width },
      N: { int: matrix.rows },
      bits: { int: matrix.bits },
      block_size: { int: GROUP_SIZE },
    },
  });
  return bias === undefined ? product : graph.add("Add", [product, bias]);
}

/** Rows of the embedding: [batch, sequence, width]. */
function lookUp(graph: GraphBuilder, table: StoredMatrix, ids: Value): Value {
  if (table.kind === "float") return graph.add("Gather", [table.name, ids]);
  const groups = table.width / GROUP_SIZE;
  const codes = graph.add("Cast", [graph.add("Gather", [table.codes, ids])], { attributes: { to: { int: 1 } } });
  const allScales = graph.add("Reshape", [table.scales, graph.ints(table.rows, groups)]);
  const scales = graph.add("Unsqueeze", [graph.add("Gather", [allScales, ids]), graph.ints(-1)]);
  const centred = graph.add("Sub", [codes, graph.float(zeroCode(table.bits))]);
  return graph.add("Reshape", [graph.add("Mul", [centred, scales]), graph.ints(0, 0, table.width)]);
}

/**
 * The decoder: token ids or embeddings in, hidden states, logits or the next tokens out.
 *
 * One path serves reading and writing. The tokens of all sequences are rows of [R, C] buffers, whatever sequence they
 * belong to; a row knows its position and where its sequence begins in the key/value cache. Reading prompts is a pass
 * of many rows, writing a pass of one row for each sequence. A layer is eight dispatches, three for encodeLayerInput
 * and five for encodeLayerOutput.
 */
import type { ModelConfig } from "../checkpoint/config";
import type { Gpu } from "../gpu/device";
import type { DispatchEncoder } from "../gpu/encoder";
import { type DecoderKernels, MATMUL, type Product } from "./kernels";
import type { KvCache } from "./kvCache";
import type { PassBuffers, RowMoves } from "./pass";
import type { SamplingBuffers } from "./samplingBuffers";
import type { DecoderWeights } from "./weights";
import type { Workspace } from "./workspace";

export class Decoder {
  constructor(
    readonly gpu: Gpu,
    readonly config: ModelConfig,
    readonly weights: DecoderWeights,
    readonly kernels: DecoderKernels,
    readonly workspace: Workspace,
  ) {}

  /**
   * Runs the rows of a pass through all layers; their hidden states before the final norm are then in workspace.hidden.
   * Rows whose id is EMBEDDING_ROW must have their embeddings there already.
   */
  encodeLayers(encoder: DispatchEncoder, pass: PassBuffers, cache: KvCache): void {
    this.encodePrompt(encoder, pass, cache);
    this.encodeLayerOutput(encoder, pass, cache, this.config.layers - 1, this.workspace.hidden, this.workspace.query);
  }

  /**
   * As encodeLayers, but of the last layer only what goes into the cache. Where only the last row of a prompt is asked
   * for, the rest of that layer is for it alone: encodeLastRows.
   */
  encodePrompt(encoder: DispatchEncoder, pass: PassBuffers, cache: KvCache): void {
    const { hidden, query } = this.workspace;
    const last = this.config.layers - 1;
    this.encodeEmbedding(encoder, pass);
    for (let layer = 0; layer < last; layer++) {
      this.encodeLayerInput(encoder, pass, cache, layer);
      this.encodeLayerOutput(encoder, pass, cache, layer, hidden, query);
    }
    this.encodeLayerInput(encoder, pass, cache, last);
  }

  /**
   * The rest of the last layer for the rows in workspace.last and workspace.lastQuery, whose places in the cache `pass`
   * tells; their hidden states before the final norm are then in workspace.last.
   */
  encodeLastRows(encoder: DispatchEncoder, pass: PassBuffers, cache: KvCache): void {
    const { last, lastQuery } = this.workspace;
    this.encodeLayerOutput(encoder, pass, cache, this.config.layers - 1, last, lastQuery);
  }

  /** First half of a layer: norm, q, k and v, of which k and v go to the cache and q to workspace.query. */
  private encodeLayerInput(encoder: DispatchEncoder, pass: PassBuffers, cache: KvCache, index: number): void {
    const { kernels, workspace: w } = this;
    const layer = this.weights.layers[index]!;
    const { keys, values } = cache.layers[index]!;
    const qkNorms = layer.qkNorms ?? kernels.unused;
    this.encodeNorm(encoder, pass, w.hidden, layer.inputNorm, w.normed);
    this.encodeProduct(encoder, pass, kernels.qkv, w.normed, layer.qkv.buffer, layer.qkvBias, w.qkv);
    encoder.dispatch(
      kernels.ropeCache,
      [pass.uniform, pass.rows, w.qkv, cache.angles, qkNorms, w.query, keys, values],
      Math.ceil((pass.rowCount * (this.config.heads + 2 * this.config.kvHeads)) / kernels.ropeHeadsPerWorkgroup),
    );
  }

  /** Second half: attention and feed-forward, both added to the rows of `hidden`. */
  private encodeLayerOutput(
    encoder: DispatchEncoder,
    pass: PassBuffers,
    cache: KvCache,
    index: number,
    hidden: GPUBuffer,
    query: GPUBuffer,
  ): void {
    const { kernels, workspace: w } = this;
    const layer = this.weights.layers[index]!;
    const { keys, values } = cache.layers[index]!;
    this.encodeAttention(encoder, pass, query, keys, values);
    this.encodeProduct(encoder, pass, kernels.output, w.mixed, layer.output.buffer, layer.outputBias, hidden);
    this.encodeNorm(encoder, pass, hidden, layer.postAttentionNorm, w.normed);
    this.encodeProduct(encoder, pass, kernels.gateUp, w.normed, layer.gateUp.buffer, undefined, w.gated);
    this.encodeProduct(encoder, pass, kernels.down, w.gated, layer.down.buffer, undefined, hidden);
  }

  /** Embeddings of the pass's ids, to workspace.hidden. */
  encodeEmbedding(encoder: DispatchEncoder, pass: PassBuffers): void {
    const vec4s = pass.rowCount * Math.ceil(this.config.hiddenSize / 4);
    this.weights.embedding.forEach((part, index) => {
      const kernel = this.kernels.embedding[index]!;
      encoder.dispatch(kernel, [pass.uniform, pass.ids, part.buffer, this.workspace.hidden], Math.ceil(vec4s / 64));
    });
  }

  /** The final norm: rows of `source` to workspace.normed. */
  encodeFinalNorm(encoder: DispatchEncoder, pass: RowCount, source: GPUBuffer): void {
    this.encodeNorm(encoder, pass, source, this.weights.finalNorm, this.workspace.normed);
  }

  /** Logits of the rows of workspace.normed, to workspace.logits. */
  encodeHead(encoder: DispatchEncoder, pass: RowCount): void {
    this.weights.head.forEach((part, index) => {
      const product = this.kernels.head[index] as Product;
      this.encodeProduct(encoder, pass, product, this.workspace.normed, part.buffer, undefined, this.workspace.logits);
    });
  }

  /** Draws the next token of each row of workspace.logits; the pass's ids and positions become those of the next step. */
  encodeSample(encoder: DispatchEncoder, pass: PassBuffers, sampling: SamplingBuffers): void {
    encoder.dispatch(
      this.kernels.sample,
      [pass.uniform, this.workspace.logits, sampling.settings, sampling.seen, pass.ids, pass.rows, sampling.tokens],
      pass.rowCount,
    );
  }

  /** Rows of workspace.hidden and .query to rows of .last and .lastQuery, as the moves say. */
  encodeGather(encoder: DispatchEncoder, moves: RowMoves): void {
    const { hidden, last, query, lastQuery } = this.workspace;
    const vec4s = this.config.heads * Math.ceil(this.config.headDim / 4);
    this.encodeRows(encoder, moves, hidden, last);
    const bindings = [moves.uniform, moves.pairs, query, lastQuery];
    encoder.dispatch(this.kernels.gatherQuery, bindings, Math.ceil((moves.rowCount * vec4s) / 64));
  }

  /** Rows of one buffer of hidden states to rows of another. */
  encodeRows(encoder: DispatchEncoder, moves: RowMoves, source: GPUBuffer, target: GPUBuffer): void {
    const vec4s = Math.ceil(this.config.hiddenSize / 4);
    const bindings = [moves.uniform, moves.pairs, source, target];
    encoder.dispatch(this.kernels.gatherHidden, bindings, Math.ceil((moves.rowCount * vec4s) / 64));
  }

  /** Attention of queries over the cache, to workspace.mixed. */
  private encodeAttention(
    encoder: DispatchEncoder,
    pass: PassBuffers,
    query: GPUBuffer,
    keys: GPUBuffer,
    values: GPUBuffer,
  ): void {
    const { attention } = this.kernels;
    const { heads, kvHeads } = this.config;
    const { mixed } = this.workspace;
    if ("kernel" in attention) {
      const bindings = [pass.uniform, pass.rows, query, keys, values, mixed];
      encoder.dispatch(attention.kernel, bindings, pass.rowCount * heads);
    } else {
      const kernel = pass.tileCount < pass.rowCount ? attention.ofMany : attention.ofOne;
      const bindings = [pass.uniform, pass.tiles, pass.rows, query, keys, values, mixed, attention.shape];
      encoder.dispatch(kernel, bindings, pass.tileCount * kvHeads);
    }
  }

  private encodeNorm(
    encoder: DispatchEncoder,
    pass: RowCount,
    input: GPUBuffer,
    weight: GPUBuffer,
    output: GPUBuffer,
  ): void {
    const { rmsNorm, rowsPerNorm } = this.kernels;
    encoder.dispatch(rmsNorm, [pass.uniform, input, weight, output], Math.ceil(pass.rowCount / rowsPerNorm));
  }

  private encodeProduct(
    encoder: DispatchEncoder,
    pass: RowCount,
    product: Product,
    input: GPUBuffer,
    weight: GPUBuffer,
    bias: GPUBuffer | undefined,
    output: GPUBuffer,
  ): void {
    const { kernel, rows, columns } = product.variant(pass.rowCount);
    const perInvocation = product.isSwiglu ? MATMUL.columns / 2 : MATMUL.columns;
    encoder.dispatch(
      kernel,
      [pass.uniform, input, weight, bias ?? this.kernels.unused, output, product.shape],
      [Math.ceil(product.out / (columns * perInvocation)), Math.ceil(pass.rowCount / rows)],
    );
  }
}

/** How many rows a dispatch works on: on the GPU for the kernels, here for the number of workgroups. */
export interface RowCount {
  uniform: GPUBuffer;
  rowCount: number;
}

/**
 * The decoder (qwen2, qwen3, llama, mistral) out of differentiable operations: the same function as src/model and the
 * reference, for training. Embeddings go in, hidden states come out; gradients flow to both the embeddings and, where
 * they are trainable, the weights.
 */
import { type DecoderLayerTensors, type DecoderTensors, decoderTensorList } from "./decoderWeights";
import type { KeyCache } from "./keyCache";
import { attention, attentionInputs, ropeAngles } from "./ops/attention";
import { swiglu } from "./ops/elementwise";
import { linear } from "./ops/linear";
import { rmsNorm } from "./ops/norm";
import { gatherRows, joinHeads, splitHeads } from "./ops/rows";
import type { Sequences } from "./sequences";
import type { Integers, Tape } from "./tape";
import type { Tensor } from "./tensor";

export interface DecoderPass {
  /**
   * Recomputes each layer in the backward pass instead of keeping what its gradients need: less memory for about a
   * third more time. Default false.
   */
  recompute?: boolean;
  /** Sequences go on from the rows in this cache, and it gets the new ones; `sequences` must come from its `next`. */
  cache?: KeyCache;
  /**
   * How many last rows of each sequence are wanted, at least 1: the last layer computes no others. Default: all rows.
   */
  last?: readonly number[];
}

/** What a layer of a pass does besides the usual. */
interface LayerPass {
  cache: KeyCache | undefined;
  index: number;
  last: readonly number[] | undefined;
}

export class DifferentiableDecoder {
  private angles: Tensor | undefined;
  private positions = 0;

  constructor(
    readonly tape: Tape,
    readonly tensors: DecoderTensors,
  ) {}

  get config() {
    return this.tensors.config;
  }

  /** Trainable weights. */
  get parameters(): Tensor[] {
    return decoderTensorList(this.tensors).filter(({ requiresGrad }) => requiresGrad);
  }

  /** @returns [ids, hiddenSize] */
  embed(ids: Integers): Tensor {
    return gatherRows(this.tensors.embedding, ids);
  }

  /**
   * Hidden states after the final norm.
   * @param embeddings [R, hiddenSize], the rows of all sequences
   * @returns [R, hiddenSize], or of the `last` rows only, sequence by sequence
   * @throws RangeError when the rows are not as many as those of the sequences, or a position exceeds the model's
   */
  forward(embeddings: Tensor, sequences: Sequences, pass: DecoderPass = {}): Tensor {
    const { tape, tensors, config } = this;
    return tape.scope(() => {
      const hidden = this.layers(embeddings, sequences, tensors.layers, pass);
      return rmsNorm(hidden, tensors.finalNorm, config.rmsNormEps);
    });
  }

  /** Only adds rows to a cache, of which no hidden states are wanted: prompts to be continued. As `forward`. */
  read(embeddings: Tensor, sequences: Sequences, cache: KeyCache): void {
    this.tape.scope(() => {
      const { layers } = this.tensors;
      const hidden = this.layers(embeddings, sequences, layers.slice(0, -1), { cache });
      const pass = { cache, index: layers.length - 1, last: undefined };
      this.keysOf(
        layers.at(-1) as DecoderLayerTensors,
        hidden,
        sequences,
        this.anglesFor(sequences.maxPosition + 1),
        pass,
      );
    });
  }

  /** What the first layers make of the embeddings. */
  private layers(
    embeddings: Tensor,
    sequences: Sequences,
    layers: readonly DecoderLayerTensors[],
    { recompute = false, cache, last }: DecoderPass,
  ): Tensor {
    const { tape, config } = this;
    if (embeddings.rows !== sequences.rows || embeddings.columns !== config.hiddenSize) {
      throw new RangeError(
        `decoder: embeddings are [${embeddings.rows}, ${embeddings.columns}] instead of ` +
          `[${sequences.rows}, ${config.hiddenSize}]`,
      );
    }
    if (sequences.maxPosition >= config.maxPositions) {
      throw new RangeError(`decoder: position ${sequences.maxPosition}, and the model has ${config.maxPositions}`);
    }
    if (recompute && cache) throw new Error("decoder: layers that use a cache cannot be recomputed");
    const angles = this.anglesFor(sequences.maxPosition + 1);
    let hidden = embeddings;
    layers.forEach((layer, index) => {
      const pass = { cache, index, last: index === config.layers - 1 ? last : undefined };
      const run = (input: Tensor, batch: Sequences, table: Tensor) => this.layer(layer, input, batch, table, pass);
      const output = recompute
        ? tape.checkpoint(run, hidden, sequences, angles)
        : tape.scope(() => run(hidden, sequences, angles));
      // The states between the layers are kept by those who need them.
      if (hidden !== embeddings) hidden.dispose();
      hidden = output;
    });
    return hidden;
  }

  /** Logits of all rows, [R, vocabSize]: for small vocabularies; losses compute theirs in blocks. */
  logits(hidden: Tensor): Tensor {
    const [head, second] = this.tensors.head;
    if (!head || second) throw new Error("logits: the head is split, as it is too large for one buffer");
    return linear(hidden, head);
  }

  dispose(): void {
    this.angles?.dispose();
    for (const tensor of decoderTensorList(this.tensors)) tensor.dispose();
  }

  /** Queries, keys and values of a layer for all rows; the cache gets its part. */
  private keysOf(layer: DecoderLayerTensors, hidden: Tensor, sequences: Sequences, angles: Tensor, pass: LayerPass) {
    const { heads, kvHeads, headDim, rmsNormEps } = this.config;
    const { qNorm, kNorm } = layer;
    const { into, prefix } = pass.cache?.layer(pass.index) ?? {};
    const qkv = linear(rmsNorm(hidden, layer.inputNorm, rmsNormEps), layer.qkv, layer.qkvBias);
    const norms = qNorm && kNorm && { query: qNorm, key: kNorm, epsilon: rmsNormEps };
    const inputs = attentionInputs(qkv, sequences, { heads, kvHeads, headDim, angles, norms, into });
    pass.cache?.setLayer(pass.index, inputs.keysValues);
    return { ...inputs, prefix };
  }

  private layer(
    layer: DecoderLayerTensors,
    hidden: Tensor,
    sequences: Sequences,
    angles: Tensor,
    pass: LayerPass,
  ): Tensor {
    const { tape } = this;
    const { heads, kvHeads, headDim, rmsNormEps } = this.config;
    const afterAttention = tape.scope(() => {
      const all = this.keysOf(layer, hidden, sequences, angles, pass);
      let [query, around, batch] = [all.query, hidden, sequences];
      if (pass.last && sequences.queryLengths.some((length, i) => length !== pass.last?.[i])) {
        const { sequences: wanted, rows } = sequences.last(tape, pass.last);
        const ids = tape.integers(rows, "wanted rows");
        query = splitHeads(gatherRows(joinHeads(all.query, heads), ids), heads, headDim);
        around = gatherRows(hidden, ids);
        batch = wanted;
      }
      const mixed = attention(query, all.keysValues, batch, { heads, kvHeads, prefix: all.prefix });
      return linear(joinHeads(mixed, heads), layer.output, layer.outputBias, around);
    });
    const normed = rmsNorm(afterAttention, layer.postAttentionNorm, rmsNormEps);
    return linear(swiglu(linear(normed, layer.gateUp)), layer.down, undefined, afterAttention);
  }

  /** The rotary embedding's table, grown by doubling. */
  private anglesFor(positions: number): Tensor {
    if (!this.angles || positions > this.positions) {
      const { headDim, ropeTheta, maxPositions } = this.config;
      this.angles?.dispose();
      this.positions = Math.min(maxPositions, Math.max(64, 2 ** Math.ceil(Math.log2(positions))));
      const table = ropeAngles(this.positions, headDim, ropeTheta);
      this.angles = this.tape.outsideScopes(() => this.tape.tensor(table, 1, table.length, { label: "rotary angles" }));
    }
    return this.angles;
  }
}

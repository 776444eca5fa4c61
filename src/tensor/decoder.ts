/**
 * The decoder (qwen2, qwen3, llama, mistral) out of differentiable operations: the same function as src/model and the
 * reference, for training. Embeddings go in, hidden states come out; gradients flow to both the embeddings and, where
 * they are trainable, the weights.
 */
import { type DecoderLayerTensors, type DecoderTensors, decoderTensorList } from "./decoderWeights";
import type { KeyCache } from "./keyCache";
import { attention, attentionInputs, ropeAngles } from "./ops/attention";
import { add, swiglu } from "./ops/elementwise";
import { linear } from "./ops/linear";
import { rmsNorm } from "./ops/norm";
import { gatherRows, joinHeads } from "./ops/rows";
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
   * @returns [R, hiddenSize]
   * @throws RangeError when the rows are not as many as those of the sequences, or a position exceeds the model's
   */
  forward(embeddings: Tensor, sequences: Sequences, { recompute = false, cache }: DecoderPass = {}): Tensor {
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
    return tape.scope(() => {
      let hidden = embeddings;
      this.tensors.layers.forEach((layer, index) => {
        const run = (input: Tensor, batch: Sequences, table: Tensor) =>
          this.layer(layer, input, batch, table, cache && { cache, index });
        const output = recompute
          ? tape.checkpoint(run, hidden, sequences, angles)
          : tape.scope(() => run(hidden, sequences, angles));
        // The states between the layers are kept by those who need them.
        if (hidden !== embeddings) hidden.dispose();
        hidden = output;
      });
      return rmsNorm(hidden, this.tensors.finalNorm, config.rmsNormEps);
    });
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

  private layer(
    layer: DecoderLayerTensors,
    hidden: Tensor,
    sequences: Sequences,
    angles: Tensor,
    cached?: { cache: KeyCache; index: number },
  ): Tensor {
    const { tape } = this;
    const { heads, kvHeads, headDim, rmsNormEps } = this.config;
    const { qNorm, kNorm } = layer;
    const afterAttention = tape.scope(() => {
      const qkv = linear(rmsNorm(hidden, layer.inputNorm, rmsNormEps), layer.qkv, layer.qkvBias);
      const norms = qNorm && kNorm && { query: qNorm, key: kNorm, epsilon: rmsNormEps };
      const before = cached?.cache.layer(cached.index);
      const shape = { heads, kvHeads, headDim, angles, norms, into: before?.into };
      const { query, keysValues } = attentionInputs(qkv, sequences, shape);
      cached?.cache.setLayer(cached.index, keysValues);
      const mixed = attention(query, keysValues, sequences, { heads, kvHeads, prefix: before?.prefix });
      return add(hidden, linear(joinHeads(mixed, heads), layer.output, layer.outputBias));
    });
    const normed = rmsNorm(afterAttention, layer.postAttentionNorm, rmsNormEps);
    const fed = linear(swiglu(linear(normed, layer.gateUp)), layer.down);
    return add(afterAttention, fed);
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

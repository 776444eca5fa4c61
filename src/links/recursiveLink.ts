/** The RecursiveLink of RecursiveMAS on a tape: a small network from hidden states to embeddings, trainable or frozen. */
import { add, gelu, scale } from "../tensor/ops/elementwise";
import { linear } from "../tensor/ops/linear";
import { layerNorm } from "../tensor/ops/norm";
import type { Tape } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import { checkWidth, type Link } from "./link";
import {
  isOneLayer,
  isResidual,
  LINK_NORM_EPSILON,
  type LinkConfig,
  linkMultiplyAdds,
  linkParameters,
  normNames,
  OUTPUT_SCALE,
  parseLinkConfig,
} from "./linkConfig";
import { checkLinkTensors, initialLinkTensors, type LinkStart, type LinkTensor } from "./linkTensors";

export interface CreateLinkOptions {
  tape: Tape;
  config: LinkConfig;
  /** Of the initial values. */
  seed: number;
  /**
   * First value of the learned output scale. The released form emits vectors of a length of about sqrt(outputSize), so
   * that the mean length of the receiver's embeddings over sqrt(outputSize) gives them the receiver's length. Default 1.
   */
  outputScale?: number;
  /** Whether the parameters are trained. Default true. */
  isTrainable?: boolean;
  /** Default "pytorch". */
  start?: LinkStart;
}

export class RecursiveLink implements Link {
  private tensorsByName: ReadonlyMap<string, Tensor>;

  private constructor(
    readonly tape: Tape,
    readonly config: LinkConfig,
    tensors: ReadonlyMap<string, Tensor>,
    private trainable: boolean,
  ) {
    this.tensorsByName = tensors;
  }

  /**
   * A new link; the same seed gives the same values.
   * @throws LinkError naming what does not fit: a field, a scale for a link that has none, the start
   */
  static create({ tape, config, seed, outputScale, isTrainable = true, start }: CreateLinkOptions): RecursiveLink {
    const checked = parseLinkConfig(config);
    const values = initialLinkTensors(checked, { seed, outputScale, start });
    return RecursiveLink.from(tape, checked, values, { isTrainable });
  }

  /**
   * A link of given parameters.
   * @throws LinkError naming a parameter that is missing, unknown, or of a wrong shape
   */
  static from(
    tape: Tape,
    config: LinkConfig,
    tensors: readonly LinkTensor[],
    { isTrainable = true }: { isTrainable?: boolean } = {},
  ): RecursiveLink {
    const checked = parseLinkConfig(config);
    const byName = checkLinkTensors(checked, tensors);
    const made = tape.outsideScopes(() => {
      return linkParameters(checked).map(({ name, shape }): [string, Tensor] => {
        const [rows, columns] = matrixShape(shape);
        const { values } = byName.get(name) as LinkTensor;
        return [name, tape.tensor(values, rows, columns, { label: name, requiresGrad: isTrainable })];
      });
    });
    return new RecursiveLink(tape, checked, new Map(made), isTrainable);
  }

  get inputSize(): number {
    return this.config.inputSize;
  }

  get outputSize(): number {
    return this.config.outputSize;
  }

  get multiplyAdds(): number {
    return linkMultiplyAdds(this.config);
  }

  get isTrainable(): boolean {
    return this.trainable;
  }

  /** In the order of `linkParameters`; they require gradients when the link is trainable. */
  get parameters(): { name: string; tensor: Tensor }[] {
    return Array.from(this.tensorsByName, ([name, tensor]) => ({ name, tensor }));
  }

  /**
   * Freezes or thaws the parameters. `parameters` then gives other tensors on the same memory, so that an optimizer made
   * before goes on training what it holds: make it afterwards.
   */
  setTrainable(isTrainable: boolean): void {
    if (isTrainable === this.trainable) return;
    this.trainable = isTrainable;
    const aliases = this.parameters.map(({ name, tensor }): [string, Tensor] => {
      const alias = this.tape.outsideScopes(() => tensor.alias(tensor.rows, tensor.columns, isTrainable));
      tensor.dispose();
      return [name, alias];
    });
    this.tensorsByName = new Map(aliases);
  }

  /** As `Link.forward`; gradients flow to `hidden` and, when the link is trainable, to its parameters. */
  forward(hidden: Tensor): Tensor {
    const { kind, form } = this.config;
    checkWidth(`${kind} link`, this, hidden);
    const get = (name: string) => this.tensorsByName.get(name);
    const layer = (x: Tensor, name: string) => linear(x, get(`${name}.weight`) as Tensor, get(`${name}.bias`));
    const norms = normNames(kind);
    const norm = (x: Tensor, name: string) => {
      const [weight, bias] = [get(`${name}.weight`), get(`${name}.bias`)];
      return weight && bias ? layerNorm(x, weight, bias, LINK_NORM_EPSILON) : x;
    };
    return this.tape.scope(() => {
      const first = layer(norm(hidden, norms.before), "proj1");
      let output = isOneLayer(form) ? first : layer(gelu(first), "proj2");
      // The shortcut takes the hidden state as it came, not the normed one.
      if (isResidual(form)) output = add(kind === "inner" ? hidden : layer(hidden, "residual_proj"), output);
      output = norm(output, norms.after);
      const factor = get(OUTPUT_SCALE);
      return factor ? scale(output, factor) : output;
    });
  }

  /** The parameters' values. @throws as `Tape.flush` */
  async tensors(): Promise<LinkTensor[]> {
    const tensors: LinkTensor[] = [];
    for (const { name, shape } of linkParameters(this.config)) {
      tensors.push({ name, shape, values: await (this.tensorsByName.get(name) as Tensor).read() });
    }
    return tensors;
  }

  /** Replaces the parameters' values in place. @throws LinkError as `from`; nothing is changed then */
  load(tensors: readonly LinkTensor[]): void {
    for (const [name, { values }] of checkLinkTensors(this.config, tensors)) {
      this.tape.overwrite(this.tensorsByName.get(name) as Tensor, values);
    }
  }

  dispose(): void {
    for (const tensor of this.tensorsByName.values()) tensor.dispose();
  }
}

/** Rows and columns on the device; vectors are rows. */
function matrixShape(shape: readonly number[]): [number, number] {
  return shape.length === 1 ? [1, shape[0] as number] : [shape[0] as number, shape[1] as number];
}

/** Puts a graph together node by node; values are known by their names. */
import type { Dimension, ElementType, OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from "./protobuf";

/** The name of a tensor in the graph. */
export type Value = string;

interface NodeOptions {
  attributes?: Record<string, OnnxAttribute>;
  /** Default: ONNX's own operators. */
  domain?: string;
}

export class GraphBuilder {
  private readonly nodes: OnnxNode[] = [];
  private readonly tensors: OnnxTensor[] = [];
  private readonly inputs: OnnxValue[] = [];
  private readonly outputs: OnnxValue[] = [];
  private readonly constants = new Map<string, Value>();
  private readonly uses = new Map<string, number>();
  private prefix = "";

  constructor(private readonly name: string) {}

  /** What the names of the values of `build` begin with. */
  within<T>(prefix: string, build: () => T): T {
    const before = this.prefix;
    this.prefix = `${before}${prefix}/`;
    try {
      return build();
    } finally {
      this.prefix = before;
    }
  }

  input(name: string, type: ElementType, dims: readonly Dimension[]): Value {
    this.inputs.push({ name, type, dims });
    return name;
  }

  /** Declares a value an output; it must have been made under this name. */
  output(name: Value, type: ElementType, dims: readonly Dimension[]): void {
    this.outputs.push({ name, type, dims });
  }

  /** A node with one output. */
  add(op: string, inputs: readonly Value[], options: NodeOptions = {}): Value {
    const [output] = this.split(op, inputs, 1, options);
    return output as Value;
  }

  /** A node with one output of the given name. */
  addAs(
    output: Value,
    op: string,
    inputs: readonly Value[],
    { attributes = {}, domain = "" }: NodeOptions = {},
  ): Value {
    this.nodes.push({ op, domain, inputs, outputs: [output], attributes });
    return output;
  }

  /** A node with several outputs. */
  split(
    op: string,
    inputs: readonly Value[],
    count: number,
    { attributes = {}, domain = "" }: NodeOptions = {},
  ): Value[] {
    const outputs = Array.from({ length: count }, () => this.fresh(op));
    this.nodes.push({ op, domain, inputs, outputs, attributes });
    return outputs;
  }

  /** A tensor whose bytes are in a file beside the model. */
  external(
    name: string,
    type: ElementType,
    dims: readonly number[],
    place: { file: string; offset: number; bytes: number },
  ) {
    this.tensors.push({ name, type, dims, data: place });
    return name;
  }

  /** A vector of whole numbers; the same one is kept once. */
  ints(...values: number[]): Value {
    return this.constant("int64", values, [values.length]);
  }

  int(value: number): Value {
    return this.constant("int64", [value], []);
  }

  float(value: number): Value {
    return this.constant("float", [value], []);
  }

  private constant(type: "int64" | "float", values: readonly number[], dims: readonly number[]): Value {
    const name = `constant/${type}${dims.length === 0 ? "" : "s"}/${values.join(",")}`;
    if (!this.constants.has(name)) {
      const data = type === "float" ? Float32Array.from(values) : BigInt64Array.from(values, BigInt);
      this.tensors.push({ name, type, dims, data: new Uint8Array(data.buffer) });
      this.constants.set(name, name);
    }
    return name;
  }

  private fresh(op: string): Value {
    const base = `${this.prefix}${op}`;
    const use = this.uses.get(base) ?? 0;
    this.uses.set(base, use + 1);
    return use === 0 ? base : `${base}_${use}`;
  }

  finish(): OnnxModel {
    const { name, inputs, outputs, tensors, nodes } = this;
    return { name, inputs, outputs, tensors, nodes };
  }
}

/**
 * ONNX models as bytes: the part of the format that decoders need, written with protobufjs.
 * Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto; numbers of fields and types are from there.
 */
import protobuf from "protobufjs/minimal.js";

export const ELEMENT_TYPES = { float: 1, uint8: 2, int64: 7, bool: 9 } as const;
export type ElementType = keyof typeof ELEMENT_TYPES;

/** A number; or a name, for a size that is known when the model runs; the same name means the same size. */
export type Dimension = number | string;

export interface OnnxValue {
  name: string;
  type: ElementType;
  dims: readonly Dimension[];
}

export interface OnnxNode {
  op: string;
  /** Empty: ONNX's own operators. */
  domain: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes: Readonly<Record<string, OnnxAttribute>>;
}

/** Whole numbers and floating-point ones are of different types in ONNX. */
export type OnnxAttribute = { int: number } | { float: number } | { ints: readonly number[] };

export interface OnnxTensor {
  name: string;
  type: ElementType;
  dims: readonly number[];
  /** Little-endian bytes in the model, or where they are: a file beside the model. */
  data: Uint8Array | { file: string; offset: number; bytes: number };
}

export interface OnnxModel {
  name: string;
  inputs: readonly OnnxValue[];
  outputs: readonly OnnxValue[];
  tensors: readonly OnnxTensor[];
  /** In an order in which every input comes before its use. */
  nodes: readonly OnnxNode[];
}

/** IR 8 came with opset 18: the oldest with axes of ReduceMean as an input. Everything current reads it. */
const IR_VERSION = 8;
const OPSET = 18;
const CONTRIB_DOMAIN = "com.microsoft";
/** What our models say that they were made by. */
export const PRODUCER = "twinloop";

const EXTERNAL = 1;
const ATTRIBUTE_TYPES = { float: 1, int: 2, ints: 7 } as const;

type Writer = protobuf.Writer;

/** The model as the content of an .onnx file. */
export function encodeOnnx(model: OnnxModel): Uint8Array {
  const writer = protobuf.Writer.create();
  writer.uint32(tag(1, 0)).int64(IR_VERSION);
  writer.uint32(tag(2, 2)).string(PRODUCER);
  message(writer, 7, () => writeGraph(writer, model));
  const domains = new Set(["", ...model.nodes.map(({ domain }) => domain)]);
  for (const domain of domains) {
    message(writer, 8, () => {
      writer.uint32(tag(1, 2)).string(domain);
      writer.uint32(tag(2, 0)).int64(domain === CONTRIB_DOMAIN ? 1 : OPSET);
    });
  }
  return writer.finish();
}

function writeGraph(writer: Writer, { name, inputs, outputs, tensors, nodes }: OnnxModel): void {
  for (const node of nodes) message(writer, 1, () => writeNode(writer, node));
  writer.uint32(tag(2, 2)).string(name);
  for (const tensor of tensors) message(writer, 5, () => writeTensor(writer, tensor));
  for (const value of inputs) message(writer, 11, () => writeValue(writer, value));
  for (const value of outputs) message(writer, 12, () => writeValue(writer, value));
}

function writeNode(writer: Writer, { op, domain, inputs, outputs, attributes }: OnnxNode): void {
  for (const input of inputs) writer.uint32(tag(1, 2)).string(input);
  for (const output of outputs) writer.uint32(tag(2, 2)).string(output);
  // A node's name is what profilers and errors call it.
  writer.uint32(tag(3, 2)).string(`${op}:${outputs[0]}`);
  writer.uint32(tag(4, 2)).string(op);
  for (const [name, value] of Object.entries(attributes)) {
    message(writer, 5, () => writeAttribute(writer, name, value));
  }
  if (domain !== "") writer.uint32(tag(7, 2)).string(domain);
}

function writeAttribute(writer: Writer, name: string, value: OnnxAttribute): void {
  writer.uint32(tag(1, 2)).string(name);
  if ("float" in value) {
    writer.uint32(tag(2, 5)).float(value.float);
    writer.uint32(tag(20, 0)).int32(ATTRIBUTE_TYPES.float);
  } else if ("int" in value) {
    writer.uint32(tag(3, 0)).int64(value.int);
    writer.uint32(tag(20, 0)).int32(ATTRIBUTE_TYPES.int);
  } else {
    for (const int of value.ints) writer.uint32(tag(8, 0)).int64(int);
    writer.uint32(tag(20, 0)).int32(ATTRIBUTE_TYPES.ints);
  }
}

function writeTensor(writer: Writer, { name, type, dims, data }: OnnxTensor): void {
  for (const size of dims) writer.uint32(tag(1, 0)).int64(size);
  writer.uint32(tag(2, 0)).int32(ELEMENT_TYPES[type]);
  writer.uint32(tag(8, 2)).string(name);
  if (data instanceof Uint8Array) {
    writer.uint32(tag(9, 2)).bytes(data);
    return;
  }
  for (const [key, value] of [
    ["location", data.file],
    ["offset", data.offset],
    ["length", data.bytes],
  ]) {
    message(writer, 13, () => {
      writer.uint32(tag(1, 2)).string(String(key));
      writer.uint32(tag(2, 2)).string(String(value));
    });
  }
  writer.uint32(tag(14, 0)).int32(EXTERNAL);
}

function writeValue(writer: Writer, { name, type, dims }: OnnxValue): void {
  writer.uint32(tag(1, 2)).string(name);
  message(writer, 2, () =>
    message(writer, 1, () => {
      writer.uint32(tag(1, 0)).int32(ELEMENT_TYPES[type]);
      message(writer, 2, () => {
        for (const size of dims) {
          message(writer, 1, () => {
            if (typeof size === "number") writer.uint32(tag(1, 0)).int64(size);
            else writer.uint32(tag(2, 2)).string(size);
          });
        }
      });
    }),
  );
}

/** A field's number, and how it is written: 0 as a varint, 2 with its length, 5 as 32 bits. */
function tag(field: number, wire: 0 | 2 | 5): number {
  return field * 8 + wire;
}

function message(writer: Writer, field: number, write: () => void): void {
  writer.uint32(tag(field, 2)).fork();
  write();
  writer.ldelim();
}

/** Which fields of a message lead to tensors. */
const LEADS: Record<string, Record<number, string>> = {
  model: { 2: "producer", 7: "graph" },
  graph: { 1: "node", 5: "tensor" },
  node: { 5: "attribute" },
  attribute: { 5: "tensor", 6: "graph", 10: "tensor", 11: "graph" },
  tensor: { 13: "entry" },
};

/**
 * Who made a model, and the names of the files beside it that hold its tensors, those of nested graphs and constants too.
 * @throws Error when the bytes are no ONNX model
 */
export function inspectOnnx(model: Uint8Array): { producer: string; files: Set<string> } {
  const files = new Set<string>();
  let producer = "";
  let hasGraph = false;
  const text = new TextDecoder();
  const walk = (kind: string, start: number, end: number) => {
    for (const field of fields(model, start, end)) {
      const child = LEADS[kind]?.[field.number];
      if (child === "entry") {
        const parts = [...fields(model, field.start, field.end)].map(({ number, start, end }) => {
          return [number, text.decode(model.subarray(start, end))] as const;
        });
        const entry = new Map(parts);
        if (entry.get(1) === "location") files.add(entry.get(2) ?? "");
      } else if (child === "producer") {
        producer = text.decode(model.subarray(field.start, field.end));
      } else if (child !== undefined) {
        hasGraph ||= child === "graph";
        walk(child, field.start, field.end);
      }
    }
  };
  try {
    walk("model", 0, model.length);
  } catch (error) {
    throw new Error(`not an ONNX model: ${(error as Error).message}`, { cause: error });
  }
  if (!hasGraph) throw new Error("not an ONNX model: it has no graph");
  return { producer, files };
}

/** The fields of a message that have a length, and where their contents are. */
function* fields(bytes: Uint8Array, start: number, end: number) {
  const reader = protobuf.Reader.create(bytes);
  reader.pos = start;
  while (reader.pos < end) {
    const key = reader.uint32();
    if ((key & 7) !== 2) {
      reader.skipType(key & 7);
      continue;
    }
    const length = reader.uint32();
    const contents = { number: key >>> 3, start: reader.pos, end: reader.pos + length };
    if (contents.end > end) throw new RangeError(`the field at byte ${contents.start} is longer than its message`);
    yield contents;
    reader.pos = contents.end;
  }
}

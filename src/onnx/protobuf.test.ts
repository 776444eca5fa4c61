/** What is found in a model's bytes. That onnxruntime-web reads what is written is in writer.test.ts. */
import { describe, expect, it } from "vitest";
import { encodeOnnx, inspectOnnx, type OnnxModel, PRODUCER } from "./protobuf";

const MODEL: OnnxModel = {
  name: "adds",
  inputs: [{ name: "x", type: "float", dims: ["rows", 2] }],
  outputs: [{ name: "y", type: "float", dims: ["rows", 2] }],
  tensors: [
    { name: "one", type: "float", dims: [2], data: { file: "weights.bin", offset: 4096, bytes: 8 } },
    { name: "two", type: "float", dims: [2], data: { file: "more.bin", offset: 0, bytes: 8 } },
    { name: "three", type: "float", dims: [2], data: new Uint8Array(8) },
  ],
  nodes: [{ op: "Add", domain: "", inputs: ["x", "one"], outputs: ["y"], attributes: { unused: { float: 1.5 } } }],
};

describe("inspectOnnx", () => {
  it("tells who made a model, and which files hold its tensors", () => {
    const { producer, files } = inspectOnnx(encodeOnnx(MODEL));
    expect(producer).toBe(PRODUCER);
    expect([...files]).toEqual(["weights.bin", "more.bin"]);
  });

  it("refuses what is no model", () => {
    const text = new TextEncoder();
    for (const bytes of ["<!doctype html><title>404</title>", '{"error": "not found"}', ""]) {
      expect(() => inspectOnnx(text.encode(bytes))).toThrow("not an ONNX model");
    }
    expect(() => inspectOnnx(encodeOnnx(MODEL).subarray(0, 60))).toThrow("not an ONNX model");
  });
});

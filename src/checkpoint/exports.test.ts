/** Exports in ONNX: which files are proposed, and their folder and the model's as one. */
import { expect, it } from "vitest";
import { exportSource, graphPaths, splitPath } from "./exports";
import { fileListSource, memorySource, pickedPaths } from "./sources";

it("proposes the usual files first, and nothing from other folders", () => {
  const paths = ["onnx/model_q4.onnx", "a.onnx", "onnx/model.onnx", "onnx/model.onnx_data", "old/onnx/model.onnx", "x"];
  expect(graphPaths(paths)).toEqual(["onnx/model.onnx", "onnx/model_q4.onnx", "a.onnx"]);
  expect(graphPaths([])).toEqual([]);
  expect([splitPath("onnx/model.onnx"), splitPath("a.onnx")]).toEqual([
    ["onnx", "model.onnx"],
    ["", "a.onnx"],
  ]);
});

it("reads the description from the model's folder, and all else from the graph's", async () => {
  const model = memorySource({ "config.json": "model", "model.onnx": "not this" }, "model");
  const graphs = memorySource({ "config.json": "not this", "model.onnx": "graph" }, "graphs");
  const source = exportSource(model, graphs);
  const text = async (name: string) => new TextDecoder().decode(await source.file(name));
  expect([await text("config.json"), await text("model.onnx"), source.label]).toEqual(["model", "graph", "model"]);
  expect(await source.size("tokenizer.json")).toBeUndefined();
  expect(new TextDecoder().decode(await source.range("model.onnx", 1, 3))).toBe("ra");
});

it("finds the folder of graphs in what a person picked", async () => {
  const files = ["a/config.json", "a/onnx/model.onnx", "a/onnx/deeper/model.onnx", "b.txt"].map((path) => ({
    ...{ name: path.split("/").at(-1) as string, size: 1, webkitRelativePath: path },
    slice: () => new Blob([path]),
  }));
  expect(pickedPaths(files)).toEqual(["config.json", "onnx/model.onnx", "onnx/deeper/model.onnx"]);
  const graphs = fileListSource(files, "a", { folder: "onnx" });
  expect([await graphs.size("model.onnx"), await graphs.size("config.json")]).toEqual([1, undefined]);
});

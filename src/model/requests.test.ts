import { describe, expect, it } from "vitest";
import type { ModelConfig } from "../checkpoint/config";
import type { GenerateRequest } from "./languageModel";
import { checkInput, checkRequest } from "./requests";

const config = { vocabSize: 50, hiddenSize: 4, maxPositions: 16 } as ModelConfig;
const request = (more: Partial<GenerateRequest>): GenerateRequest => ({
  input: { ids: [1, 2, 3] },
  maxTokens: 5,
  ...more,
});

describe("checkInput", () => {
  it("gives the length of ids and embeddings", () => {
    expect(checkInput({ ids: [0, 49] }, config, "input 0")).toBe(2);
    expect(checkInput({ ids: Int32Array.of(7) }, config, "input 0")).toBe(1);
    expect(checkInput({ embeddings: new Float32Array(12) }, config, "input 0")).toBe(3);
  });

  it.each([
    [{ ids: [] }, "input 3 is empty"],
    [{ embeddings: new Float32Array(0) }, "input 3 is empty"],
    [{ ids: [1, 50] }, "input 3: id 50 at position 1 is not in the vocabulary of 50"],
    [{ ids: [-1] }, "input 3: id -1 at position 0"],
    [{ ids: [1.5] }, "input 3: id 1.5 at position 0"],
    [{ embeddings: new Float32Array(6) }, "input 3: 6 numbers are no whole rows of hiddenSize 4"],
    [
      { embeddings: Float32Array.of(0, 0, 0, 0, 0, Number.NaN, 0, 0) },
      "input 3: embeddings hold NaN (row 1, element 1)",
    ],
    [{ embeddings: Float32Array.of(0, 0, 0, -Infinity) }, "input 3: embeddings hold -Infinity (row 0, element 3)"],
    [{ ids: new Array(17).fill(0) }, "input 3 has 17 tokens, and the model has 16 positions"],
  ])("refuses %o", (input, message) => {
    expect(() => checkInput(input, config, "input 3")).toThrow(message);
    expect(() => checkInput(input, config, "input 3")).toThrow(RangeError);
  });
});

describe("checkRequest", () => {
  it("gives the length of the prompt", () => {
    expect(checkRequest(request({ maxTokens: 13 }), config, "request 0")).toBe(3);
    expect(checkRequest(request({ maxTokens: 0, temperature: 2, topK: 4, topP: 0.1, minP: 1 }), config, "r")).toBe(3);
  });

  it.each([
    [{ maxTokens: 14 }, "request 1: 3 prompt tokens and maxTokens 14 exceed the model's 16 positions"],
    [{ maxTokens: -1 }, "request 1: maxTokens is -1, and must be an integer of at least 0"],
    [{ maxTokens: 1.5 }, "request 1: maxTokens is 1.5"],
    [{ temperature: -0.1 }, "request 1: temperature is -0.1, and must be at least 0"],
    [{ temperature: Number.NaN }, "request 1: temperature is NaN"],
    [{ topK: -1 }, "request 1: topK is -1"],
    [{ topP: 0 }, "request 1: topP is 0, and must be above 0 and at most 1"],
    [{ topP: 1.1 }, "request 1: topP is 1.1"],
    [{ minP: 2 }, "request 1: minP is 2, and must be from 0 to 1"],
    [{ repetitionPenalty: 0 }, "request 1: repetitionPenalty is 0, and must be above 0"],
    [{ seed: -3 }, "request 1: seed is -3"],
    [{ stopIds: [3, 90] }, "request 1: stopIds: id 90 at position 1 is not in the vocabulary of 50"],
  ])("refuses %o", (more, message) => {
    expect(() => checkRequest(request(more), config, "request 1")).toThrow(message);
  });
});

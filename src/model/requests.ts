/** Checks of what callers ask for, so that mistakes get a sentence that names them instead of strange tokens. */
import type { ModelConfig } from "../checkpoint/config";
import type { GenerateRequest, ReadOptions, SequenceInput } from "./languageModel";

/** What a text asks of a model that it does not have: so many positions, or such a token. */
export class RequestError extends RangeError {
  constructor(
    readonly reason: "tooLong" | "unknownToken",
    message: string,
  ) {
    super(message);
  }
}

/**
 * Length of an input in tokens.
 * @param name how errors call the input, for instance "input 3"
 * @throws RangeError for an empty input, an id out of range, embeddings of the wrong size or not finite, more tokens
 * than the model has positions
 */
export function checkInput(input: SequenceInput, config: ModelConfig, name: string): number {
  const { vocabSize, hiddenSize, maxPositions } = config;
  let length: number;
  if ("ids" in input) {
    length = input.ids.length;
    checkIds(input.ids, vocabSize, name);
  } else {
    const { embeddings } = input;
    length = embeddings.length / hiddenSize;
    if (!Number.isInteger(length)) {
      throw new RangeError(`${name}: ${embeddings.length} numbers are no whole rows of hiddenSize ${hiddenSize}`);
    }
    const bad = embeddings.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0) {
      const where = `row ${Math.floor(bad / hiddenSize)}, element ${bad % hiddenSize}`;
      throw new RangeError(`${name}: embeddings hold ${embeddings[bad]} (${where})`);
    }
  }
  if (length === 0) throw new RangeError(`${name} is empty`);
  if (length > maxPositions) {
    throw new RequestError("tooLong", `${name} has ${length} tokens, and the model has ${maxPositions} positions`);
  }
  return length;
}

/** @throws RangeError naming the first id that is no token of the vocabulary */
export function checkIds(ids: ArrayLike<number>, vocabSize: number, name: string): void {
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i]!;
    if (!Number.isInteger(id) || id < 0 || id >= vocabSize) {
      throw new RequestError(
        "unknownToken",
        `${name}: id ${id} at position ${i} is not in the vocabulary of ${vocabSize}`,
      );
    }
  }
}

/** Lengths of what is read and kept. @throws RangeError naming the input or the option */
export function checkReading(inputs: readonly SequenceInput[], { room }: ReadOptions, config: ModelConfig): number[] {
  if (inputs.length === 0) throw new RangeError("read: the batch is empty");
  if (!Number.isInteger(room) || room < 0) throw new RangeError(`read: room is ${room}, and must be a whole number`);
  return inputs.map((input, index) => {
    const length = checkInput(input, config, `input ${index}`);
    if (length + room <= config.maxPositions) return length;
    throw new RequestError(
      "tooLong",
      `input ${index} has ${length} tokens and room for ${room} more, and the model has ${config.maxPositions} positions`,
    );
  });
}

/** @throws RangeError for rows that are not one finite embedding for each sequence */
export function checkRows(rows: readonly Float32Array[], sequences: number, config: ModelConfig): void {
  if (rows.length !== sequences) throw new RangeError(`append: ${rows.length} rows for ${sequences} sequences`);
  rows.forEach((embeddings, index) => {
    const length = checkInput({ embeddings }, config, `row ${index}`);
    if (length !== 1) throw new RangeError(`row ${index} holds ${length} embeddings instead of one`);
  });
}

/** Length of a request's prompt. @throws RangeError naming the request and the field */
export function checkRequest(request: GenerateRequest, config: ModelConfig, name: string): number {
  const length = checkInput(request.input, config, name);
  const { maxTokens, temperature = 0, topK = 0, topP = 1, minP = 0, repetitionPenalty = 1, seed = 0 } = request;
  const demand = (holds: boolean, field: string, value: number, rule: string) => {
    if (!holds) throw new RangeError(`${name}: ${field} is ${value}, and must be ${rule}`);
  };
  demand(Number.isInteger(maxTokens) && maxTokens >= 0, "maxTokens", maxTokens, "an integer of at least 0");
  demand(Number.isFinite(temperature) && temperature >= 0, "temperature", temperature, "at least 0");
  demand(Number.isInteger(topK) && topK >= 0 && topK < 2 ** 32, "topK", topK, "an integer of at least 0");
  demand(topP > 0 && topP <= 1, "topP", topP, "above 0 and at most 1");
  demand(minP >= 0 && minP <= 1, "minP", minP, "from 0 to 1");
  demand(
    Number.isFinite(repetitionPenalty) && repetitionPenalty > 0,
    "repetitionPenalty",
    repetitionPenalty,
    "above 0",
  );
  demand(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32, "seed", seed, "an integer from 0 to 4294967295");
  checkIds(request.stopIds ?? [], config.vocabSize, `${name}: stopIds`);
  if (length + maxTokens > config.maxPositions) {
    throw new RequestError(
      "tooLong",
      `${name}: ${length} prompt tokens and maxTokens ${maxTokens} exceed the model's ${config.maxPositions} positions`,
    );
  }
  return length;
}

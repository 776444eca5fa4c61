/** `eval weights`: what 8 and 4 bits cost: perplexity of a text, and agreement with the checkpoint as stored. */
import { readFile } from "node:fs/promises";
import { QUANTIZATIONS, type Quantization } from "../../checkpoint/quantize";
import { agreement, measureTexts, type TextMeasure } from "../../model/textMeasure";
import { makeWorld } from "../../world/world";
import { command, type FoundModel } from "../command";
import { engineOptions, jsonFlag, MAX_SEED, modelOption } from "../modelOptions";
import { integer, text, UsageError } from "../options";
import { percent, table } from "../table";

const DEFAULT_TOKENS = 2000;

export const evalWeightsCommand = command({
  name: "eval weights",
  summary: "measures what matrices in 8 and 4 bits cost",
  examples: ["eval weights --json", "eval weights --model DIR --text FILE --engine onnx-wasm"],
  options: {
    model: modelOption,
    engine: engineOptions.engine,
    text: text({ value: "FILE", help: "UTF-8 text (default: articles of the encyclopedia of --seed)" }),
    seed: integer({ value: "S", min: 0, max: MAX_SEED, fallback: 1, help: "of the encyclopedia" }),
    tokens: integer({ value: "N", min: 2, max: 10_000_000, fallback: DEFAULT_TOKENS, help: "of the text at most" }),
    json: jsonFlag,
  },
  async run({ model: name, engine, text: file, seed, tokens: limit, json }, { out, models }) {
    const documents =
      file === undefined ? makeWorld(seed).documents.map((document) => document.text) : [await read(file)];
    const found = new Map<Quantization, FoundModel>();
    for (const weights of QUANTIZATIONS) found.set(weights, await models.find(name, { engine, weights }));
    const { tokenizer } = found.get("stored") as FoundModel;
    const texts: number[][] = [];
    let left = limit;
    for (const document of documents) {
      const ids = tokenizer.encode(document).slice(0, left);
      left -= ids.length;
      if (ids.length > 1) texts.push(ids);
      if (left < 2) break;
    }
    if (texts.length === 0) throw new UsageError("--text: it has no two tokens");
    const measures = new Map<Quantization, TextMeasure>();
    for (const [weights, { load }] of found) {
      const model = await load();
      measures.set(weights, await measureTexts(model, texts));
      model.dispose();
    }
    const stored = measures.get("stored") as TextMeasure;
    const results = [...measures].map(([weights, measure]) => {
      return { weights, perplexity: measure.perplexity, agreement: agreement(measure, stored) };
    });
    if (json) out(`${JSON.stringify({ tokens: stored.tokens, engine, results })}\n`);
    else {
      const rows = results.map((result) => [result.weights, result.perplexity.toFixed(3), percent(result.agreement)]);
      out(`${stored.tokens} tokens\n\n${table(["weights", "perplexity", "same best token"], rows)}\n`);
    }
  },
});

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`--text: ${(error as Error).message}`);
  }
}

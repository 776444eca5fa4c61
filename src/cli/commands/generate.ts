/** `generate`: continues a text. */
import { command } from "../command";
import { engineOptions, jsonFlag, MAX_SEED, modelOption, samplingOf, samplingOptions } from "../modelOptions";
import { flag, integer, text, UsageError } from "../options";

const DEFAULT_MAX_TOKENS = 128;

export const generateCommand = command({
  name: "generate",
  summary: "continues a text",
  examples: ['generate --prompt "Once upon a time" --max-tokens 50 --temperature 0.8 --seed 3'],
  options: {
    model: modelOption,
    ...engineOptions,
    prompt: text({ value: "P", required: true, help: "the text; special tokens in it are recognised" }),
    chat: flag("put the prompt into the model's chat template, as the user's message"),
    "max-tokens": integer({
      value: "N",
      min: 1,
      max: 1_000_000,
      fallback: DEFAULT_MAX_TOKENS,
      help: "new tokens at most",
    }),
    ...samplingOptions,
    suggested: flag("draw as the checkpoint's generation_config.json says, in place of the options above"),
    seed: integer({ value: "S", min: 0, max: MAX_SEED, fallback: 0, help: "of sampling" }),
    json: jsonFlag,
  },
  async run(values, { out, models }) {
    const found = await models.find(values.model, { engine: values.engine, weights: values.weights });
    const { tokenizer, config } = found;
    const prompt = values.chat ? tokenizer.renderChat([{ role: "user", content: values.prompt }]) : values.prompt;
    const ids = tokenizer.encode(prompt);
    if (ids.length >= config.maxPositions) {
      throw new UsageError(`--prompt: ${ids.length} tokens, but the model has ${config.maxPositions} positions`);
    }
    const maxTokens = Math.min(values["max-tokens"], config.maxPositions - ids.length);
    const model = await found.load();
    const start = performance.now();
    if (values.suggested && !config.sampling) {
      throw new UsageError(
        `--suggested: ${values.model ?? "the model"} has no generation_config.json that draws tokens`,
      );
    }
    const drawn = values.suggested ? config.sampling : undefined;
    const request = { ...samplingOf(values, values.seed), ...drawn, input: { ids }, maxTokens };
    const onToken = values.json ? undefined : ({ text: piece }: { text: string }) => out(piece);
    const [result] = await model.generate([request], onToken && { onToken });
    if (!result) throw new Error(`${model.id} returned no result`);
    const ms = performance.now() - start;
    const { text: written, finishReason, promptTokens } = result;
    if (values.json) out(`${JSON.stringify({ text: written, ids: result.ids, finishReason, promptTokens, ms })}\n`);
    else out("\n");
  },
});

/**
 * Turns a trained agent into a checkpoint that the page loads: weights in f16, config, tokenizer; then opens it again
 * as the product does, so that nothing is shipped that would not load.
 * usage: node pretrain/run.mjs ship --from DIR --tokenizer DIR --id NAME [--context 1152]
 * `context` goes into config.json: the loop derives its budgets from it (see the agents' model cards).
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { decodeTensor, encodeTensor } from "../src/checkpoint/dtype";
import { openCheckpoint } from "../src/checkpoint/load";
import { folderSource } from "../src/checkpoint/nodeFolder";
import { readSafetensorsHeader, writeSafetensors } from "../src/checkpoint/safetensors";

export async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      from: { type: "string" },
      tokenizer: { type: "string" },
      id: { type: "string" },
      context: { type: "string", default: "1152" },
    },
  });
  if (!values.from || !values.tokenizer || !values.id) {
    throw new Error("--from DIR, --tokenizer DIR and --id NAME are needed");
  }
  const target = join("public", "models", values.id);
  mkdirSync(target, { recursive: true });
  const source = folderSource(values.from);
  const tensors = await Promise.all(
    (await readSafetensorsHeader(source, "model.safetensors")).map(async ({ name, dtype, shape, start, end }) => {
      const values = decodeTensor(dtype, await source.range("model.safetensors", start, end));
      return { name, dtype: "F16" as const, shape, bytes: encodeTensor("F16", values) };
    }),
  );
  writeFileSync(join(target, "model.safetensors"), writeSafetensors(tensors, { format: "pt" }));
  for (const file of ["tokenizer.json", "tokenizer_config.json"]) {
    copyFileSync(join(values.tokenizer, file), join(target, file));
  }
  const tokens: { id: number; content: string }[] = JSON.parse(
    readFileSync(join(values.tokenizer, "tokenizer.json"), "utf8"),
  ).added_tokens;
  const idOf = (content: string) => tokens.find((token) => token.content === content)?.id;
  const shape = JSON.parse(readFileSync(join(values.from, "shape.json"), "utf8"));
  const config = {
    architectures: ["Qwen3ForCausalLM"],
    model_type: "qwen3",
    ...shape,
    hidden_act: "silu",
    attention_bias: false,
    max_position_embeddings: Number(values.context),
    tie_word_embeddings: true,
    torch_dtype: "float16",
    bos_token_id: idOf("<|endoftext|>"),
    eos_token_id: idOf("<|im_end|>"),
  };
  const generation = { eos_token_id: [idOf("<|im_end|>"), idOf("<|endoftext|>")], pad_token_id: idOf("<|endoftext|>") };
  writeFileSync(join(target, "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  writeFileSync(join(target, "generation_config.json"), `${JSON.stringify(generation, null, 2)}\n`);
  const { tensors: opened } = await openCheckpoint(folderSource(target));
  const parameters = [...opened.values()].reduce(
    (sum, tensor) => sum + tensor.shape.reduce((product, length) => product * length, 1),
    0,
  );
  console.log(`${target}: ${opened.size} tensors, ${parameters} parameters`);
}

/** `export onnx`: a checkpoint as model.onnx, with its weights beside it. */
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { WEIGHT_FORMATS } from "../../onnx/weights";
import { onnxData, onnxExport } from "../../onnx/writer";
import { command } from "../command";
import { jsonFlag } from "../modelOptions";
import { choice, text, UsageError } from "../options";
import { checkWritable, makeFolder, replaceFile } from "../output";

const MODEL_FILE = "model.onnx";
/** Go along, where the model has them. */
const FURTHER_FILES = [
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
];

export const exportOnnxCommand = command({
  name: "export onnx",
  summary: "writes a checkpoint as an ONNX model",
  examples: ["export onnx --model DIR --out DIR/onnx", "export onnx --model DIR --out OTHER --weights q4 --json"],
  options: {
    model: text({
      value: "ID|DIR",
      required: true,
      help: "a folder of public/models, or any with config.json and safetensors",
    }),
    out: text({ value: "DIR", required: true, help: "receives model.onnx, model.onnx_data and the tokenizer's files" }),
    weights: choice({
      value: "FORMAT",
      choices: WEIGHT_FORMATS,
      fallback: "f32",
      help: "f32, or 8 or 4 bits in groups of 32 (q8, q4; the operator MatMulNBits)",
    }),
    inputs: choice({
      value: "KIND",
      choices: ["ids", "embeddings"],
      fallback: "ids",
      help: "what the model reads: ids (input_ids) or embeddings (inputs_embeds)",
    }),
    json: jsonFlag,
  },
  async run({ model: name, out: folder, weights, inputs, json }, { out, models }) {
    const { files } = await models.find(name, { tokenizer: false });
    if (!files) throw new UsageError(`--model: ${name} is no checkpoint`);
    const exported = onnxExport(files.checkpoint, { weights, inputs });
    await makeFolder(folder, "out");
    const dataPath = join(folder, exported.dataFile);
    await checkWritable(dataPath, "out");
    // What is there under its own name is whole.
    const unfinished = `${dataPath}.part`;
    try {
      await pipeline(Readable.from(onnxData(exported)), createWriteStream(unfinished));
      await rename(unfinished, dataPath);
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    }
    await replaceFile(join(folder, MODEL_FILE), exported.model);
    for (const file of FURTHER_FILES) {
      const content = await files.source.file(file);
      if (content) await replaceFile(join(folder, file), content);
    }
    const written = { [MODEL_FILE]: exported.model.length, [exported.dataFile]: exported.dataBytes };
    if (json) out(`${JSON.stringify({ out: folder, weights, inputs, bytes: written })}\n`);
    else for (const [file, bytes] of Object.entries(written)) out(`${join(folder, file)}: ${bytes} bytes\n`);
  },
});

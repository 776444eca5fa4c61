/** `logits` and `hidden`: one forward pass over token ids, written as raw numbers for comparison with other software. */
import { command } from "../command";
import { engineOptions, jsonFlag } from "../modelOptions";
import { integers, text, UsageError } from "../options";
import { checkWritable, replaceFile } from "../output";

function forwardCommand(output: "logits" | "hidden", summary: string, columns: string) {
  return command({
    name: output,
    summary,
    examples: [`${output} --model DIR --ids 1,2,3 --out ${output}.f32 --json`],
    options: {
      model: text({
        value: "DIR|ID",
        required: true,
        help: "folder with config.json and safetensors, or for onnxruntime-web an .onnx file; nothing else is read",
      }),
      ids: integers({ value: "A,B,C", min: 0, required: true, help: "token ids of the sequence, T of them" }),
      ...engineOptions,
      out: text({ value: "FILE", required: true, help: `receives [T, ${columns}] as little-endian f32, row by row` }),
      json: jsonFlag,
    },
    async run({ model: name, ids, engine, weights, out: file, json }, { out, models }) {
      await checkWritable(file, "out");
      const found = await models.find(name, { tokenizer: false, engine, weights });
      const { vocabSize, hiddenSize, maxPositions } = found.config;
      const unknown = ids.findIndex((id) => id >= vocabSize);
      if (unknown >= 0) {
        throw new UsageError(
          `--ids: number ${unknown + 1} is ${ids[unknown]}, but the vocabulary has ${vocabSize} tokens`,
        );
      }
      if (ids.length > maxPositions) {
        throw new UsageError(`--ids: ${ids.length} tokens, but the model has ${maxPositions} positions`);
      }
      const model = await found.load();
      const [values] = await model.forward([{ ids }], { output });
      if (!values) throw new Error(`${model.id} returned no ${output}`);
      const shape = [ids.length, output === "logits" ? vocabSize : hiddenSize];
      // Every platform that has WebGPU is little-endian.
      await replaceFile(file, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
      out(json ? `${JSON.stringify({ shape })}\n` : `${file}: f32 [${shape.join(", ")}]\n`);
    },
  });
}

export const logitsCommand = forwardCommand("logits", "writes the logits of a sequence", "vocabulary");
export const hiddenCommand = forwardCommand("hidden", "writes the hidden states after the final norm", "hidden size");

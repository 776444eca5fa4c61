/** The reference decoder against PyTorch: tests/golden is written by pretrain/golden.py from the definitions. */
import { describe, expect, it } from "vitest";
import { decodeTensor } from "../checkpoint/dtype";
import { openCheckpoint } from "../checkpoint/load";
import { folderSource } from "../checkpoint/nodeFolder";
import { readSafetensorsHeader } from "../checkpoint/safetensors";
import { loadReferenceModel, referenceHidden, referenceLogits } from "./decoder";

async function readGolden(folder: string, name: string): Promise<Float64Array> {
  const source = folderSource(folder);
  const entry = (await readSafetensorsHeader(source, "golden.safetensors")).find((tensor) => tensor.name === name);
  if (!entry) throw new Error(`golden.safetensors of ${folder} has no ${name}`);
  return decodeTensor(entry.dtype, await source.range("golden.safetensors", entry.start, entry.end));
}

describe.each(["qwen2", "qwen3", "llama"])("the reference decoder on %s", (architecture) => {
  const folder = `tests/golden/${architecture}`;

  it("gives PyTorch's hidden states and logits", async () => {
    const model = await loadReferenceModel(await openCheckpoint(folderSource(folder)));
    const input = { ids: await readGolden(folder, "ids") };
    for (const [name, ours] of [
      ["hidden", referenceHidden(model, input)],
      ["logits", referenceLogits(model, input)],
    ] as const) {
      const golden = await readGolden(folder, name);
      expect(ours).toHaveLength(golden.length);
      const worst = Math.max(...ours.map((value, i) => Math.abs(value - (golden[i] as number))));
      // The file holds f32; both sides compute in f64.
      expect(worst).toBeLessThan(2e-6);
    }
  });
});

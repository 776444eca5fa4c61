/** `lab gradcheck` on the device: its report, and that the whole decoder's gradients hold in it. */
import { expect, it } from "vitest";
import { main } from "../../src/cli/main";
import { nodeContext } from "../../src/cli/nodeContext";

it("reports the worst errors of every operation and of each architecture", async () => {
  let out = "";
  const code = await main(["gradcheck", "--json", "--seed", "2"], {
    ...nodeContext(),
    out: (text) => {
      out += text;
    },
    err: () => {},
    errIsTerminal: false,
  });
  const report = JSON.parse(out);
  expect(code).toBe(0);
  expect(report.ok).toBe(true);
  expect(report.ops.map(({ op }: { op: string }) => op)).toEqual(
    expect.arrayContaining([
      "linear",
      "attention",
      "rmsNorm",
      "softmaxCrossEntropy",
      "cosineLoss",
      "clippedPolicyLoss",
    ]),
  );
  for (const { op, forward, gradient } of report.ops) {
    expect(forward, op).toBeLessThan(1e-5);
    expect(gradient, op).toBeLessThan(2e-5);
  }
  expect(report.models.map(({ model }: { model: string }) => model)).toEqual(["qwen2", "qwen3", "llama"]);
  for (const { model, loss, gradient } of report.models) {
    expect(loss, model).toBeLessThan(1e-5);
    expect(gradient, model).toBeLessThan(1e-3);
  }
});

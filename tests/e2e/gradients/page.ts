/**
 * The page of gradients.spec.ts, built for it alone: operations, their gradients, and a whole decoder against the f64
 * reference on the browser's own device.
 */
import { openGpu } from "../../../src/gpu/device";
import { checkDecoder, type DecoderErrors } from "../../../src/tensor/check/decoderCheck";
import { opCases } from "../../../src/tensor/check/opCases";
import { type CaseErrors, runCase } from "../../../src/tensor/check/runCase";
import { Tape } from "../../../src/tensor/tape";

export interface Findings {
  device: string;
  cases: CaseErrors[];
  decoder: DecoderErrors;
  /** Bytes of tensors, and then of the device, that are left after all. */
  left: [number, number];
}

declare global {
  interface Window {
    checkGradients(): Promise<Findings>;
  }
}

window.checkGradients = async () => {
  const gpu = await openGpu();
  const tape = new Tape(gpu);
  // Of each operation the first and the last sizes: the smallest, and one across the edges of tiles.
  const all = opCases();
  const chosen = all.filter(({ op }, i) => all[i - 1]?.op !== op || all[i + 1]?.op !== op);
  const cases: CaseErrors[] = [];
  for (const testCase of chosen) cases.push(await runCase(tape, testCase));
  const decoder = await checkDecoder(tape, "qwen3");
  const leftInTensors = tape.liveBytes;
  tape.dispose();
  const findings: Findings = { device: gpu.name, cases, decoder, left: [leftInTensors, gpu.liveBytes] };
  gpu.close();
  return findings;
};

/** `gradcheck`: the operations and the whole decoder on this device against the f64 reference, gradients included. */
import type { CaseErrors } from "../../tensor/check/runCase";
import { command } from "../command";
import { jsonFlag } from "../modelOptions";
import { integer } from "../options";
import { table } from "../table";

/** What a relative error may be. */
const LIMITS = { op: 1e-4, gradient: 1e-2, loss: 1e-3 } as const;

export const gradcheckCommand = command({
  name: "gradcheck",
  summary: "compares all operations and their gradients with the f64 reference",
  examples: ["gradcheck", "gradcheck --json --seed 7"],
  options: {
    seed: integer({ value: "S", min: 0, fallback: 1, help: "of the random inputs" }),
    json: jsonFlag,
  },
  async run({ seed, json }, { out, err, errIsTerminal }) {
    // Only this command needs a device without a model.
    const [{ openNodeGpu }, { Tape }, { opCases }, { runCase }, { checkDecoder, CHECKED_CONFIGS }] = await Promise.all([
      import("../../gpu/nodeDevice"),
      import("../../tensor/tape"),
      import("../../tensor/check/opCases"),
      import("../../tensor/check/runCase"),
      import("../../tensor/check/decoderCheck"),
    ]);
    const gpu = await openNodeGpu();
    try {
      const tape = new Tape(gpu);
      const progress = (text: string) => {
        if (errIsTerminal) err(`\r\x1b[K${text}`);
      };
      const found: CaseErrors[] = [];
      for (const testCase of opCases(seed)) {
        progress(`${testCase.op} ${testCase.size}`);
        found.push(await runCase(tape, testCase));
      }
      const models = [];
      for (const architecture of Object.keys(CHECKED_CONFIGS)) {
        progress(`decoder, ${architecture}`);
        const { loss, gradients } = await checkDecoder(tape, architecture, seed);
        models.push({ model: architecture, loss, gradient: Math.max(...Object.values(gradients)) });
      }
      progress("");
      tape.dispose();

      const ops = [...new Set(found.map(({ op }) => op))].map((op) => {
        const own = found.filter((errors) => errors.op === op);
        const gradient = Math.max(...own.flatMap(({ gradients }) => Object.values(gradients)));
        return { op, cases: own.length, forward: Math.max(...own.map(({ forward }) => forward)), gradient };
      });
      const ok =
        ops.every(({ forward, gradient }) => forward <= LIMITS.op && gradient <= LIMITS.op) &&
        models.every(({ loss, gradient }) => loss <= LIMITS.loss && gradient <= LIMITS.gradient);
      const worst = Math.max(...ops.map(({ gradient }) => gradient), ...models.map(({ gradient }) => gradient));
      if (json) {
        out(`${JSON.stringify({ device: gpu.name, seed, ok, worst, limits: LIMITS, ops, models })}\n`);
      } else {
        const digits = (value: number) => value.toExponential(1);
        const opRows = ops.map(({ op, cases, forward, gradient }) => [op, cases, digits(forward), digits(gradient)]);
        out(`${gpu.name}\n\n${table(["operation", "sizes", "forward", "gradient"], opRows)}\n\n`);
        const modelRows = models.map(({ model, loss, gradient }) => [model, digits(loss), digits(gradient)]);
        out(`${table(["model", "loss", "gradient"], modelRows)}\n\n`);
        out("Worst relative errors against the f64 reference; of a model's loss the absolute one.\n");
      }
      if (!ok) throw new Error("gradcheck: an error exceeds its limit");
    } finally {
      gpu.close();
    }
  },
});

/** Runs a case of opCases on the device and measures how far it is from the reference. */
import { Random } from "../../random/random";
import type { Tape } from "../tape";
import type { OpCase } from "./opCases";

export interface CaseErrors {
  op: string;
  size: string;
  /** Largest deviation of the result, relative to its largest element. */
  forward: number;
  /** The same for the gradient of each input that has one. */
  gradients: Record<string, number>;
}

/** Largest |a - b| over largest |b|. Where b is all but zero, the absolute deviation. NaN counts as infinite. */
export function relativeError(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let worst = 0;
  let largest = 0;
  for (let i = 0; i < a.length; i++) {
    const deviation = Math.abs((a[i] as number) - (b[i] as number));
    worst = Math.max(worst, Number.isNaN(deviation) ? Number.POSITIVE_INFINITY : deviation);
    largest = Math.max(largest, Math.abs(b[i] as number));
  }
  return largest < 1e-9 ? worst : worst / largest;
}

/** @param passes how often the gradients are computed: they must add up */
export async function runCase(tape: Tape, testCase: OpCase, passes = 1): Promise<CaseErrors> {
  const { op, size, inputs, run, expected, gradients } = testCase;
  const names = Object.keys(inputs);
  const values = Object.values(inputs).map((input) => input.values);
  const tensors = Object.entries(inputs).map(([label, { values: own, rows, columns, dtype, isConstant }]) =>
    tape.tensor(own, rows, columns, { label, dtype, requiresGrad: !isConstant }),
  );
  const random = new Random(7, size.length);
  let dOut: Float64Array | undefined;
  let result: Float32Array | undefined;
  for (let pass = 0; pass < passes; pass++) {
    const output = tape.scope(() => {
      const out = run(tape, tensors);
      dOut ??= Float64Array.from({ length: out.rows * out.columns }, () => Math.fround(random.normal()));
      tape.backward(out, tape.tensor(dOut, out.rows, out.columns));
      return out;
    });
    result = await output.read();
    output.dispose();
  }
  const wanted = gradients(dOut as Float64Array, values);
  const errors: Record<string, number> = {};
  for (const [i, name] of names.entries()) {
    const reference = wanted[name]?.map((value) => value * passes);
    const grad = tensors[i]?.grad;
    if (!reference || !grad) {
      if (reference || grad) errors[name] = Number.POSITIVE_INFINITY;
      continue;
    }
    errors[name] = relativeError(await grad.read(), reference);
  }
  for (const tensor of tensors) tensor.dispose();
  return { op, size, forward: relativeError(result as Float32Array, expected(values)), gradients: errors };
}

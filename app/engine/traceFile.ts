/** What recorded runs of all rooms have in common as files: JSON that is checked field by field when it is read. */
import type { z } from "zod";

/** Reads a file of a run. @throws Error naming the field that is wrong, and what was expected there */
export function parseTraceFile<T>(text: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`no valid JSON: ${(error as Error).message}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join(".") || "file"}: ${issue?.message}`);
}

/** Digits that are kept of fractions: more than any picture shows. */
const DIGITS = 5;

export function writeTraceFile(file: object): string {
  return JSON.stringify(file, (_, value: unknown) =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value,
  );
}

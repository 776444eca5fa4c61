/**
 * Options of the command line as one table per command: it drives parsing, checking, types and `--help`. Whatever is
 * wrong with the arguments becomes a UsageError of one line.
 */
import { parseArgs } from "node:util";

/** The arguments are wrong: exit code 2, the message on standard error, nothing on standard output. */
export class UsageError extends Error {
  override name = "UsageError";
}

export interface Option<T> {
  /** What `--help` calls the value; absent for a flag. */
  value?: string;
  help: string;
  required: boolean;
  fallback: T;
  /** @throws UsageError */
  parse(text: string, name: string): T;
  /** Set where the option takes several values: what they make together. */
  join?(values: T[]): T;
}

export type OptionTable = Record<string, Option<unknown>>;
export type Values<O extends OptionTable> = { [K in keyof O]: O[K] extends Option<infer T> ? T : never };

interface Description {
  value: string;
  help: string;
}

interface Range {
  min?: number;
  max?: number;
  /** Instead of min: the value must be greater. */
  above?: number;
}

export function flag(help: string): Option<boolean> {
  return { help, required: false, fallback: false, parse: () => true };
}

/** A text that is not empty. */
export function text(description: Description): Option<string | undefined>;
export function text(description: Description & { required: true }): Option<string>;
export function text(description: Description & { required?: true }): Option<string | undefined> {
  return option(description, (given, name) => {
    if (given === "") throw new UsageError(`--${name} is empty`);
    return given;
  });
}

/** A whole number. */
export function integer(description: Description & Range): Option<number | undefined>;
export function integer(description: Description & Range & { required: true }): Option<number>;
export function integer(description: Description & Range & { fallback: number }): Option<number>;
export function integer(
  description: Description & Range & { required?: true; fallback?: number },
): Option<number | undefined> {
  return option(description, (given, name) => wholeNumber(given, `--${name}`, description));
}

/** Any finite number. */
export function number(description: Description & Range): Option<number | undefined>;
export function number(description: Description & Range & { fallback: number }): Option<number>;
export function number(description: Description & Range & { fallback?: number }): Option<number | undefined> {
  return option(description, (given, name) => {
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(given) || !Number.isFinite(Number(given))) {
      throw new UsageError(`--${name} must be a number; got "${given}"`);
    }
    return inRange(Number(given), `--${name}`, "a number", description);
  });
}

/** Whole numbers, separated by commas; at least one. */
export function integers(description: Description & Range): Option<number[] | undefined>;
export function integers(
  description: Description & Range & ({ required: true } | { fallback: number[] }),
): Option<number[]>;
export function integers(
  description: Description & Range & { required?: true; fallback?: number[] },
): Option<number[] | undefined> {
  return option(description, (given, name) =>
    given.split(",").map((part, i) => wholeNumber(part.trim(), `--${name}: number ${i + 1}`, description)),
  );
}

/** Texts that are not empty: `--name a b`, or the option several times. */
export function texts(description: Description & { fallback: string[] }): Option<string[]> {
  const parse: Option<string[]>["parse"] = (given, name) => {
    if (given === "") throw new UsageError(`--${name} is empty`);
    return [given];
  };
  return { ...(option(description, parse) as Option<string[]>), join: (values) => values.flat() };
}

/** Words, separated by commas; at least one, none empty. */
export function words(description: Description): Option<string[] | undefined> {
  return option(description, (given, name) => {
    const parts = given.split(",").map((part) => part.trim());
    if (parts.includes("")) throw new UsageError(`--${name} has an empty entry; got "${given}"`);
    return parts;
  });
}

/** One of some words. */
export function choice<const C extends string>(
  description: Description & { choices: readonly C[] },
): Option<C | undefined>;
export function choice<const C extends string>(
  description: Description & { choices: readonly C[]; fallback: NoInfer<C> },
): Option<C>;
export function choice<const C extends string>(
  description: Description & { choices: readonly C[]; fallback?: NoInfer<C> },
): Option<C | undefined> {
  return option(description, (given, name) => {
    const found = description.choices.find((candidate) => candidate === given);
    if (found === undefined) {
      throw new UsageError(`--${name} must be one of ${description.choices.join(", ")}; got "${given}"`);
    }
    return found;
  });
}

function option<T>(
  { value, help, required = false, fallback }: Description & { required?: boolean; fallback?: T },
  parse: Option<T>["parse"],
): Option<T | undefined> {
  return { value, help, required, fallback, parse };
}

function wholeNumber(given: string, name: string, range: Range): number {
  if (!/^[+-]?\d+$/.test(given) || !Number.isSafeInteger(Number(given))) {
    throw new UsageError(`${name} must be a whole number; got "${given}"`);
  }
  return inRange(Number(given), name, "a whole number", range);
}

function inRange(value: number, name: string, kind: string, { min, above, max }: Range): number {
  const rules: [boolean, string][] = [];
  if (min !== undefined) rules.push([value >= min, `at least ${min}`]);
  if (above !== undefined) rules.push([value > above, `above ${above}`]);
  if (max !== undefined) rules.push([value <= max, `at most ${max}`]);
  if (rules.every(([holds]) => holds)) return value;
  throw new UsageError(`${name} must be ${kind}, ${rules.map(([, rule]) => rule).join(", ")}; got ${value}`);
}

/**
 * Parses the arguments of a command; options are given as `--name value` or `--name=value`, at most once unless they
 * take several values.
 * @throws UsageError
 */
export function parseOptions<O extends OptionTable>(options: O, args: readonly string[]): Values<O> {
  const given = parseRaw(options, args);
  const entries = Object.entries(options).map(([name, { required, fallback, parse, join }]) => {
    const values = given[name];
    if (values === undefined) {
      if (required) throw new UsageError(`--${name} is missing`);
      return [name, fallback];
    }
    if (join) return [name, join(values.map((value) => parse(String(value), name)))];
    if (values.length > 1) throw new UsageError(`--${name} is given more than once`);
    return [name, parse(String(values[0]), name)];
  });
  return Object.fromEntries(entries) as Values<O>;
}

function parseRaw(options: OptionTable, args: readonly string[]): Record<string, (string | boolean)[] | undefined> {
  const kinds = Object.entries(options).map(([name, { value }]) => [
    name,
    { type: value === undefined ? ("boolean" as const) : ("string" as const), multiple: true as const },
  ]);
  try {
    const { values, tokens } = parseArgs({
      args: [...args],
      options: Object.fromEntries(kinds),
      allowPositionals: true,
      tokens: true,
    });
    const given = values as Record<string, (string | boolean)[] | undefined>;
    // Words without a dash belong to the option before them when that takes several.
    let owner: string | undefined;
    for (const token of tokens) {
      if (token.kind === "option") owner = options[token.name]?.join && token.name;
      if (token.kind !== "positional") continue;
      if (owner === undefined) throw new UsageError(`Unexpected argument '${token.value}'`);
      given[owner]?.push(token.value);
    }
    return given;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // Node's messages go on with advice in further sentences.
    throw new UsageError((error as Error).message.split(/\.(?:\s|$)|\n/)[0]);
  }
}

/** The options as lines of `--help`, aligned. */
export function describeOptions(options: OptionTable): string {
  const rows = Object.entries(options).map(([name, { value, help, required, fallback }]) => {
    const notes = required
      ? " (required)"
      : fallback === undefined || fallback === false
        ? ""
        : ` (default ${fallback})`;
    return [`  --${name}${value === undefined ? "" : ` ${value}`}`, help + notes] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`).join("\n");
}

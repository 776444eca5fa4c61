/**
 * The safetensors file format: reads and checks headers, and writes files.
 * Layout: u64 length N of the header, N bytes of JSON (name -> { dtype, shape, data_offsets }), then the tensors' bytes
 * without gaps; everything little-endian and row-major. Source: https://github.com/huggingface/safetensors#format
 */
import { z } from "zod";
import type { CheckpointSource, TensorDtype } from "./checkpoint";
import { BYTES_PER_ELEMENT } from "./dtype";
import { CheckpointError, foreignFile } from "./errors";

/** Where a tensor stands in a file. */
export interface SafetensorsEntry {
  name: string;
  dtype: TensorDtype;
  shape: readonly number[];
  /** Bytes [start, end) counted from the beginning of the file. */
  start: number;
  end: number;
}

export interface SafetensorsTensor {
  name: string;
  dtype: TensorDtype;
  shape: readonly number[];
  /** Little-endian, row-major. */
  bytes: Uint8Array;
}

const LENGTH_BYTES = 8;
/** The limit that the reference implementation sets, so that a damaged length cannot ask for gigabytes. */
const MAX_HEADER_BYTES = 100_000_000;

const size = z.int().nonnegative();
const entrySchema = z.object({ dtype: z.string(), shape: z.array(size), data_offsets: z.tuple([size, size]) });

/** Header of one file of a source, in two small reads. @throws CheckpointError as `parseSafetensorsHeader` does. */
export async function readSafetensorsHeader(
  source: CheckpointSource,
  file: string,
  signal?: AbortSignal,
): Promise<SafetensorsEntry[]> {
  const fileBytes = await source.size(file, signal);
  if (fileBytes === undefined) {
    throw new CheckpointError(`${source.label}: ${file} is missing`);
  }
  const prefix = await source.range(file, 0, Math.min(LENGTH_BYTES, fileBytes), signal);
  const headerBytes = safetensorsHeaderLength(file, prefix, fileBytes);
  const json = await source.range(file, LENGTH_BYTES, LENGTH_BYTES + headerBytes, signal);
  return parseSafetensorsHeader(file, json, fileBytes);
}

/** Length of the JSON header in bytes, from the first 8 bytes of the file. @throws CheckpointError if impossible. */
export function safetensorsHeaderLength(file: string, prefix: Uint8Array, fileBytes: number): number {
  if (prefix.length < LENGTH_BYTES) {
    throw new CheckpointError(`${file}: truncated: ${fileBytes} bytes cannot hold a safetensors header`);
  }
  const length = new DataView(prefix.buffer, prefix.byteOffset, LENGTH_BYTES).getBigUint64(0, true);
  if (length < 2n || length > BigInt(MAX_HEADER_BYTES)) {
    const why = foreignFile(prefix) ?? `impossible header length ${length}`;
    throw new CheckpointError(`${file}: not a safetensors file: ${why}`);
  }
  if (LENGTH_BYTES + Number(length) > fileBytes) {
    throw new CheckpointError(`${file}: header length ${length} exceeds the file of ${fileBytes} bytes: truncated`);
  }
  return Number(length);
}

/**
 * Parses and checks the JSON header; entries come in the order of their bytes.
 * @throws CheckpointError naming the file and, where there is one, the tensor: bad JSON, an unsupported dtype, offsets
 * that overlap, leave a gap, run past the file or do not match dtype and shape, bytes that belong to no tensor.
 */
export function parseSafetensorsHeader(file: string, json: Uint8Array, fileBytes: number): SafetensorsEntry[] {
  const dataStart = LENGTH_BYTES + json.length;
  const entries = [...headerObject(file, json)]
    .filter(([name]) => name !== "__metadata__")
    .map(([name, value]) => parseEntry(file, name, value, dataStart));
  entries.sort((a, b) => a.start - b.start || a.end - b.end);
  let position = dataStart;
  for (const { name, start, end } of entries) {
    if (end > fileBytes) {
      throw new CheckpointError(`${file}: truncated: tensor "${name}" ends at byte ${end} of ${fileBytes}`);
    }
    if (start < position) {
      throw new CheckpointError(`${file}: tensor "${name}" overlaps the one before it (byte ${start} < ${position})`);
    }
    if (start > position) {
      throw new CheckpointError(`${file}: ${start - position} bytes before tensor "${name}" belong to no tensor`);
    }
    position = end;
  }
  if (position !== fileBytes) {
    throw new CheckpointError(`${file}: ${fileBytes - position} bytes after the last tensor belong to no tensor`);
  }
  return entries;
}

/**
 * A whole file in memory: its tensors, whose bytes are views on the file, and its metadata.
 * @throws CheckpointError as `parseSafetensorsHeader`, and naming a metadata entry that is no text
 */
export function parseSafetensors(
  file: string,
  bytes: Uint8Array,
): { tensors: SafetensorsTensor[]; metadata: Record<string, string> } {
  const json = bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + safetensorsHeaderLength(file, bytes, bytes.length));
  const tensors = parseSafetensorsHeader(file, json, bytes.length).map(({ name, dtype, shape, start, end }) => {
    return { name, dtype, shape, bytes: bytes.subarray(start, end) };
  });
  const metadata = z.record(z.string(), z.string()).safeParse(headerObject(file, json).get("__metadata__") ?? {});
  if (metadata.success) return { tensors, metadata: metadata.data };
  const { path, message } = metadata.error.issues[0] as z.core.$ZodIssue;
  throw new CheckpointError(`${file}: metadata ${path.map((part) => `"${String(part)}"`).join(".")}: ${message}`);
}

function headerObject(file: string, json: Uint8Array): Map<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(json));
  } catch (error) {
    throw new CheckpointError(`${file}: the header is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof header !== "object" || header === null || Array.isArray(header)) {
    throw new CheckpointError(`${file}: the header is not a JSON object`);
  }
  return new Map(Object.entries(header));
}

function parseEntry(file: string, name: string, value: unknown, dataStart: number): SafetensorsEntry {
  const parsed = entrySchema.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "entry"}: ${issue.message}`);
    throw new CheckpointError(`${file}: tensor "${name}": ${problems.join("; ")}`);
  }
  const { dtype, shape, data_offsets: offsets } = parsed.data;
  if (!isSupported(dtype)) {
    throw new CheckpointError(`${file}: tensor "${name}" has unsupported dtype "${dtype}" (F32, BF16 and F16 are)`);
  }
  const bytes = elementCount(shape) * BYTES_PER_ELEMENT[dtype];
  if (offsets[1] - offsets[0] !== bytes) {
    throw new CheckpointError(
      `${file}: tensor "${name}": offsets [${offsets.join(", ")}] do not match ${dtype} [${shape.join(", ")}], ` +
        `which takes ${bytes} bytes`,
    );
  }
  return { name, dtype, shape, start: dataStart + offsets[0], end: dataStart + offsets[1] };
}

function isSupported(dtype: string): dtype is TensorDtype {
  return Object.hasOwn(BYTES_PER_ELEMENT, dtype);
}

function elementCount(shape: readonly number[]): number {
  return shape.reduce((count, length) => count * length, 1);
}

/**
 * A whole safetensors file. Tensors are laid out in the given order; the header is padded to a multiple of 8 bytes.
 * @throws CheckpointError for a repeated name, or bytes that do not match dtype and shape.
 */
export function writeSafetensors(
  tensors: readonly SafetensorsTensor[],
  metadata?: Readonly<Record<string, string>>,
): Uint8Array<ArrayBuffer> {
  const header = new Map<string, unknown>();
  if (metadata) {
    header.set("__metadata__", metadata);
  }
  let dataBytes = 0;
  for (const { name, dtype, shape, bytes } of tensors) {
    if (header.has(name) || name === "__metadata__") {
      throw new CheckpointError(`tensor name "${name}" is taken`);
    }
    if (bytes.length !== elementCount(shape) * BYTES_PER_ELEMENT[dtype]) {
      throw new CheckpointError(`tensor "${name}": ${bytes.length} bytes do not match ${dtype} [${shape.join(", ")}]`);
    }
    header.set(name, { dtype, shape, data_offsets: [dataBytes, dataBytes + bytes.length] });
    dataBytes += bytes.length;
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(header)));
  const headerBytes = Math.ceil(json.length / 8) * 8;
  const file = new Uint8Array(LENGTH_BYTES + headerBytes + dataBytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(headerBytes), true);
  file.set(json, LENGTH_BYTES);
  file.fill(0x20, LENGTH_BYTES + json.length, LENGTH_BYTES + headerBytes);
  let position = LENGTH_BYTES + headerBytes;
  for (const { bytes } of tensors) {
    file.set(bytes, position);
    position += bytes.length;
  }
  return file;
}

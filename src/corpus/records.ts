/** Tables and records: one section for each, written out as a line of "name: value". */
import type { Marks, ParsedFile, Section } from "./parsed";

/** A record of a file, as text, with its number in the file. */
export interface RecordText {
  title: string;
  text: string;
  /** From 1. */
  row: number;
}

/** One section for each record; the records' texts follow each other line by line. */
export function fileOfRecords(title: string, records: readonly RecordText[], warnings: string[]): ParsedFile {
  const sections: Section[] = [];
  const marks: Required<Marks> = { unit: "row", at: [], numbers: [] };
  const parts: string[] = [];
  let length = 0;
  for (const record of records) {
    marks.at.push(length);
    marks.numbers.push(record.row);
    sections.push({ title: record.title, start: length, end: length + record.text.length });
    parts.push(record.text);
    length += record.text.length + 1;
  }
  return { title, text: parts.join("\n"), sections, marks, warnings };
}

const TITLE_KEYS = ["title", "name", "heading", "label", "question", "id", "_id"];
const TEXT_KEYS = ["text", "content", "contents", "body", "passage", "abstract", "article", "markdown", "answer"];
/** Lists of numbers longer than this are vectors for machines. */
const LONGEST_NUMBERS = 16;

/** A JSON value as a record: title and text where it has such fields, and all other fields as "name: value". */
export function recordOfJson(value: unknown, row: number): RecordText {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { title: "", text: valueText(value), row };
  }
  const fields = Object.entries(value).map(([key, field]) => ({ key, field, text: valueText(field) }));
  const find = (keys: readonly string[]) =>
    fields.find(({ key, text }) => keys.includes(key.toLowerCase()) && text !== "");
  const title = find(TITLE_KEYS);
  const body = find(TEXT_KEYS);
  if (typeof body?.field !== "string") {
    // The line must stand by itself, so it says the name, too.
    return { title: title?.text ?? "", text: lineOfFields(fields.map(({ key, text }) => [key, text])), row };
  }
  const others = fields.filter((field) => field !== title && field !== body);
  const rest = lineOfFields(others.map(({ key, text }) => [key, text]));
  return { title: title?.text ?? "", text: rest ? `${body.text}\n${rest}` : body.text, row };
}

/** "name: value; name: value", without empty values. */
export function lineOfFields(fields: readonly (readonly [string, string])[]): string {
  return fields.flatMap(([name, value]) => (value ? [name ? `${name}: ${value}` : value] : [])).join("; ");
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value.trim();
  if (typeof value !== "object") return String(value);
  if (!Array.isArray(value)) return JSON.stringify(value);
  if (value.length > LONGEST_NUMBERS && value.every((item) => typeof item === "number")) return "";
  return value.map(valueText).join(", ");
}

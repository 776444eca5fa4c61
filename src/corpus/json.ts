/** JSON Lines, a record a line, and JSON: a list of records, or one. */
import { decodeText } from "./decode";
import { type Parser, stemOf, UnreadableFile } from "./parsed";
import { fileOfRecords, type RecordText, recordOfJson } from "./records";

/** A record's row is its line. Lines that are no JSON are left out with a warning. */
export const parseJsonLines: Parser = (bytes, name) => {
  const { text, warnings } = decodeText(bytes);
  const records: RecordText[] = [];
  const bad: { line: number; reason: string }[] = [];
  for (const [i, line] of text.split(/\r\n|\n|\r/).entries()) {
    if (line.trim() === "") continue;
    try {
      records.push(recordOfJson(JSON.parse(line), i + 1));
    } catch (error) {
      bad.push({ line: i + 1, reason: (error as Error).message });
    }
  }
  const [first] = bad;
  if (first) {
    const which = bad.length === 1 ? `line ${first.line} is` : `${bad.length} lines are, from line ${first.line} on,`;
    const message = `${which} no JSON (${first.reason})`;
    if (records.length === 0) throw new UnreadableFile(`holds no record: ${message}`);
    warnings.push(`${message}; left out`);
  }
  return fileOfRecords(stemOf(name), records, warnings);
};

/** A record's row is its place in the list: the file itself, or the one list of records in it. */
export const parseJson: Parser = (bytes, name) => {
  const { text, warnings } = decodeText(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UnreadableFile(`is no JSON (${(error as Error).message})`);
  }
  const list = recordsIn(value, warnings);
  return fileOfRecords(
    stemOf(name),
    list.map((item, i) => recordOfJson(item, i + 1)),
    warnings,
  );
};

/** Exports often wrap their records: `{"count": 2, "articles": [...]}`. */
function recordsIn(value: unknown, warnings: string[]): unknown[] {
  if (Array.isArray(value)) return value;
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const lists = fields.filter(([, field]) => Array.isArray(field) && field.length > 0 && field.every(isRecord));
  const [list] = lists;
  if (!list || lists.length > 1) return [value];
  if (fields.length > 1) warnings.push(`only the list "${list[0]}" was read`);
  return list[1] as unknown[];
}

function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** CSV and TSV: a record for each row, by the names of the header. RFC 4180 and its relatives, by Papa Parse. */
import Papa from "papaparse";
import { decodeText } from "./decode";
import { collapse, type Parser, stemOf, UnreadableFile } from "./parsed";
import { fileOfRecords, lineOfFields, type RecordText } from "./records";

export const parseCsv: Parser = (bytes, name) => {
  const { text, warnings } = decodeText(bytes);
  const delimiter = /\.tsv$/i.test(name) ? "\t" : "";
  const { data, errors } = Papa.parse<string[]>(text, { delimiter, skipEmptyLines: "greedy" });
  // A file of one column has no delimiter to be found, which is no fault.
  const problems = errors.filter(({ code }) => code !== "UndetectableDelimiter");
  const [first] = problems;
  if (first) {
    const where = first.row === undefined ? "" : `row ${first.row + 1}: `;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
    warnings.push(`${where}${first.message}${more}`);
  }
  const rows = data.map((row) => row.map(collapse));
  const header = rows[0] && isHeader(rows[0]) ? rows[0] : undefined;
  const body = header ? rows.slice(1) : rows;
  if (body.length === 0) throw new UnreadableFile(header ? "holds a header but no rows" : "holds no rows");
  const uneven = header ? body.filter((row) => row.length !== header.length).length : 0;
  if (uneven > 0) warnings.push(`${uneven} rows have more or fewer values than the header`);
  return fileOfRecords(
    stemOf(name),
    body.map((row, i) => recordOf(row, header, i + 1)),
    warnings,
  );
};

/** A first row whose values are all there, all different and none a number names the columns. */
function isHeader(row: readonly string[]): boolean {
  return row.every((value) => value !== "" && Number.isNaN(Number(value))) && new Set(row).size === row.length;
}

function recordOf(row: readonly string[], header: readonly string[] | undefined, number: number): RecordText {
  const fields = row.map((value, i) => [header?.[i] ?? "", value] as const);
  return { title: row.find((value) => value !== "") ?? "", text: lineOfFields(fields), row: number };
}

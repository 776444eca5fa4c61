/**
 * Turns a finished training file of links into the folder that page and command line load by default.
 * usage: node pretrain/run.mjs shipLinks --from FILE --id NAME
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readLinkSetFiles, writeLinkSetFiles } from "../src/links/linkSet";
import { readTrainingFile } from "../src/train/trainingFile";

export function main(args: string[]): void {
  const { values } = parseArgs({ args, options: { from: { type: "string" }, id: { type: "string" } } });
  if (!values.from || !values.id) throw new Error("--from FILE and --id NAME are needed");
  const { links, step, settings } = readTrainingFile(readFileSync(values.from), values.from);
  if (step < settings.steps)
    throw new Error(`${values.from}: step ${step} of ${settings.steps}; let the run end first`);
  const files = writeLinkSetFiles({ ...links, id: values.id });
  readLinkSetFiles(files);
  const target = join("public", "links", values.id);
  mkdirSync(target, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(join(target, name), bytes);
  console.log(`${target}: ${links.inner.length} inner and ${links.outer.length} outer links`);
}

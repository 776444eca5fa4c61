import { mkdtempSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCorpus } from "../corpus/readCorpus";
import { filesAt, readCMap } from "./nodeCorpus";

const folder = mkdtempSync(join(tmpdir(), "corpus-"));
beforeAll(async () => {
  await mkdir(join(folder, "b", ".hidden"), { recursive: true });
  await mkdir(join(folder, "node_modules"));
  for (const name of ["z.txt", "b/a.txt", "b/.hidden/x.txt", ".env", "node_modules/x.txt"]) {
    await writeFile(join(folder, name), name);
  }
  await symlink(folder, join(folder, "b", "up"));
  await symlink(join(folder, "z.txt"), join(folder, "linked.txt"));
  await symlink(join(folder, "nowhere"), join(folder, "y.txt"));
});
afterAll(() => rm(folder, { recursive: true }));

const namesAt = async (...paths: string[]) => (await filesAt(paths)).map(({ name }) => name);

test("a folder is what it holds, without what is hidden, and no link leads round and round", async () => {
  const expected = ["b/a.txt", "linked.txt", "y.txt", "z.txt"].map((name) => join(folder, name));
  expect(await namesAt(folder)).toEqual(expected);
});

test("what is named is read, hidden or not, in the order given", async () => {
  const paths = [join(folder, "z.txt"), join(folder, ".env"), join(folder, "b", ".hidden")];
  expect(await namesAt(...paths)).toEqual([paths[0], paths[1], join(folder, "b/.hidden/x.txt")]);
});

test("a path where nothing is is an error of the arguments; a link to nowhere is a file that cannot be opened", async () => {
  await expect(filesAt([join(folder, "absent")])).rejects.toThrow(
    `there is no file or folder "${join(folder, "absent")}"`,
  );
  const { skipped } = await readCorpus(await filesAt([folder]), { countTokens: () => 1, maxTokens: 16 });
  expect(skipped).toEqual([
    { name: join(folder, "y.txt"), reason: expect.stringContaining("could not be opened (ENOENT") },
  ]);
});

test("pdf.js's tables are found", async () => {
  expect((await readCMap("UniJIS-UCS2-H.bcmap")).length).toBeGreaterThan(100);
});

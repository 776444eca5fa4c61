/** Where commands may write: refusals come before any work, name the option, and leave nothing behind. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { UsageError } from "./options";
import { checkWritable, makeFolder, replaceFile } from "./output";

const folder = mkdtempSync(join(tmpdir(), "lab-output-"));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "file"), "old");
symlinkSync(join(folder, "loop"), join(folder, "loop"));

/** Existing folders in which nothing can be made, whoever asks. */
const SEALED = ["/proc", "/sys"].filter((path) => existsSync(path));

describe("checkWritable", () => {
  it("passes files that can be made or replaced, and changes nothing", async () => {
    const before = readdirSync(folder);
    await checkWritable(join(folder, "new"), "out");
    await checkWritable(join(folder, "file"), "out");
    await checkWritable("/dev/null", "out");
    expect(readdirSync(folder)).toEqual(before);
  });

  it.each([
    ["there is no folder", join(folder, "nowhere", "file")],
    ["file is no folder", join(folder, "file", "below")],
    ["is a folder", folder],
    ["its links lead in a circle", join(folder, "loop")],
    ["its name is too long", join(folder, "x".repeat(300))],
    ...SEALED.map((path) => ["cannot be written", join(path, "x")] as const),
  ] as [string, string][])("refuses, with the option: %s", async (reason, path) => {
    const refused = checkWritable(path, "details");
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(/^--details: /);
    await expect(refused).rejects.toThrow(reason);
  });

  // Root may write everywhere.
  it.skipIf(process.getuid?.() === 0)("refuses what the user may not write", async () => {
    chmodSync(join(folder, "file"), 0o400);
    await expect(checkWritable(join(folder, "file"), "out")).rejects.toThrow("no right to write");
  });
});

describe("makeFolder", () => {
  it("makes what is missing, and takes what is there", async () => {
    const deep = join(folder, "a", "b", "c");
    await makeFolder(deep, "out");
    await makeFolder(deep, "out");
    expect(readdirSync(join(folder, "a", "b"))).toEqual(["c"]);
  });

  it.each([
    ["file is no folder", join(folder, "file")],
    ["file is no folder", join(folder, "file", "below", "it")],
    ["its links lead in a circle", join(folder, "loop", "x")],
    ["its name is too long", join(folder, "x".repeat(300), "y")],
    ...SEALED.map((path) => ["cannot be written", join(path, "x", "y")] as const),
  ] as [string, string][])("refuses, with the option: %s", async (reason, path) => {
    const refused = makeFolder(path, "out");
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(/^--out: /);
    await expect(refused).rejects.toThrow(reason);
  });
});

describe("replaceFile", () => {
  it("writes through links, and into devices, which stay what they are", async () => {
    const own = mkdtempSync(join(folder, "replaced-"));
    const link = join(own, "link");
    await replaceFile(join(own, "target"), "one");
    symlinkSync(join(own, "target"), link);
    await replaceFile(link, "two");
    expect(readFileSync(join(own, "target"), "utf8")).toBe("two");
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    await replaceFile("/dev/null", "three");
    expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
    expect(readdirSync(own)).toEqual(["link", "target"]);
  });
});

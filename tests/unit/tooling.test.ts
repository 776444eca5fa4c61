/** The scripts under scripts/: what they read from the system, and what they say when something is missing. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { parseAptSources, sourcesWithBackports } from "../../scripts/lib/apt.mjs";
import { importTypeScript } from "../../scripts/lib/bundle.mjs";
import { countPlaywright, countVitest } from "../../scripts/lib/counts.mjs";
import { describeGpuEnvironment } from "../../scripts/lib/gpuEnvironment.mjs";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "twinloop-tooling-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("apt sources", () => {
  const lines = `# a comment
deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg] http://mirror.example/debian bookworm main contrib
deb-src http://mirror.example/debian bookworm main
#deb http://mirror.example/debian sid main
deb http://mirror.example/debian-security bookworm-security main
deb http://elsewhere.example/tool stable main`;
  const stanzas = `Types: deb deb-src
# a comment
URIs: https://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/b.gpg

Types: deb
Enabled: no
URIs: https://mirror.example/debian
Suites: bookworm-proposed-updates
Components: main

Types: deb
URIs: https://elsewhere.example/
Suites: bookworm
Components: extras
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----
`;

  test("reads one-line sources", () => {
    expect(parseAptSources(lines)).toEqual([
      {
        uris: ["http://mirror.example/debian"],
        suites: ["bookworm"],
        components: ["main", "contrib"],
        signedBy: "/usr/share/keyrings/a.gpg",
      },
      {
        uris: ["http://mirror.example/debian-security"],
        suites: ["bookworm-security"],
        components: ["main"],
        signedBy: "",
      },
      { uris: ["http://elsewhere.example/tool"], suites: ["stable"], components: ["main"], signedBy: "" },
    ]);
  });

  test("reads deb822 stanzas, skips disabled ones, keeps the lines of an embedded key", () => {
    const sources = parseAptSources(stanzas);
    expect(sources).toHaveLength(2);
    expect(sources[0]).toEqual({
      uris: ["https://mirror.example/debian"],
      suites: ["bookworm", "bookworm-updates"],
      components: ["main"],
      signedBy: "/usr/share/keyrings/b.gpg",
    });
    expect(sources[1]?.signedBy).toBe(
      "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n -----END PGP PUBLIC KEY BLOCK-----",
    );
  });

  test.each([
    ["one-line", lines, "http://mirror.example/debian", "/usr/share/keyrings/a.gpg"],
    ["deb822", stanzas, "https://mirror.example/debian", "/usr/share/keyrings/b.gpg"],
  ])("adds the backports of the same mirror and keyring to %s sources", (_name, text, uri, keyring) => {
    const written = sourcesWithBackports(parseAptSources(text), "bookworm") ?? "";
    expect(parseAptSources(written)).toContainEqual({
      uris: [uri],
      suites: ["bookworm-backports"],
      components: ["main"],
      signedBy: keyring,
    });
    expect(written).not.toContain("elsewhere");
  });

  test("knows no backports when no source of the release is there", () => {
    expect(sourcesWithBackports(parseAptSources(lines), "trixie")).toBeNull();
    expect(sourcesWithBackports([], "bookworm")).toBeNull();
  });
});

describe("counts of the tiers", () => {
  test("vitest: a file that fails before its first test counts as one failure", () => {
    const report = {
      numPassedTests: 5,
      numFailedTests: 2,
      numPendingTests: 1,
      numTodoTests: 1,
      testResults: [
        { status: "failed", assertionResults: [{ status: "failed" }, { status: "failed" }, { status: "passed" }] },
        { status: "failed", assertionResults: [] },
        { status: "passed", assertionResults: [{ status: "passed" }] },
      ],
    };
    expect(countVitest(JSON.stringify(report))).toEqual({ passed: 5, failed: 3, skipped: 2 });
  });

  test("playwright: flaky tests and errors outside of tests are failures", () => {
    const report = { stats: { expected: 4, unexpected: 1, flaky: 2, skipped: 3 }, errors: [{ message: "no server" }] };
    expect(countPlaywright(JSON.stringify(report))).toEqual({ passed: 4, failed: 4, skipped: 3 });
  });
});

describe("launcher of the command line", () => {
  test("bundles TypeScript, shaders as text, lazy imports and import.meta.url", async () => {
    writeFileSync(join(folder, "add.wgsl"), "fn add() {}\n");
    writeFileSync(join(folder, "lazy.ts"), "export const lazy: number = 7;\n");
    writeFileSync(
      join(folder, "entry.ts"),
      `import { basename } from "node:path";
       import * as z from "zod";
       import shader from "./add.wgsl?raw";
       export const read = async () => [shader, basename(import.meta.url), typeof z.object, (await import("./lazy")).lazy];`,
    );
    const { read } = await importTypeScript(join(folder, "entry.ts"));
    expect(await read()).toEqual(["fn add() {}\n", "entry.ts", "function", 7]);
  });

  test("reads the source anew each time", async () => {
    const entry = join(folder, "changing.ts");
    writeFileSync(entry, "export const value: number = 1;");
    const first = await importTypeScript(entry);
    writeFileSync(entry, "export const value: number = 2;");
    const second = await importTypeScript(entry);
    expect([first.value, second.value]).toEqual([1, 2]);
  });

  /** A copy of the scripts without packages, as in a fresh clone. */
  function freshClone(): string {
    const clone = mkdtempSync(join(folder, "clone-"));
    cpSync(join(repository, "scripts"), join(clone, "scripts"), { recursive: true });
    for (const name of ["package.json", "package-lock.json"]) cpSync(join(repository, name), join(clone, name));
    return clone;
  }

  const run = (cwd: string, script: string, env: Record<string, string> = {}) =>
    spawnSync(process.execPath, [join("scripts", script)], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, ...env },
    });

  test("names the set-up in one line when packages are missing", () => {
    const { status, stdout, stderr } = run(freshClone(), "lab.mjs");
    expect(status).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toBe("The npm packages are not installed: run `npm run setup`.\n");
  });

  test("names the set-up in one line when no device computes", () => {
    const clone = freshClone();
    for (const name of ["rolldown", "webgpu"]) mkdirSync(join(clone, "node_modules", name), { recursive: true });
    const { status, stdout, stderr } = run(clone, "lab.mjs");
    expect(status).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toBe(`${describeGpuEnvironment(null)}\n`);
    expect(stderr).toContain("npm run setup");
  });

  test.each(["setup.mjs", "start.mjs", "test.mjs"])("%s says that the packages could not be installed", (script) => {
    // An npm that only fails: what `npm ci` does without a network, but at once.
    const npm = join(folder, "npm-cli.js");
    writeFileSync(npm, "process.exit(1);");
    const { status, stdout, stderr } = run(freshClone(), script, { npm_execpath: npm });
    expect(status).toBe(1);
    expect(stdout).toBe(script === "test.mjs" ? "0 passed, 1 failed\n" : "");
    expect(stderr).toBe(
      "Installing the npm packages ...\nThe npm packages could not be installed (npm ci failed, see above): is there a network?\n",
    );
  });
});

test("the lock file names no download address", () => {
  expect(readFileSync(join(repository, "package-lock.json"), "utf8")).not.toContain('"resolved"');
});

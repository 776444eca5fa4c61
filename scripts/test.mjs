/**
 * `npm test`: set-up, then every tier of tests. A failing tier does not hide the later ones. The last line is
 * `N passed, N failed`, summed over all tiers; checks without tests of their own (lint, types, build) count as one.
 * Arguments choose tiers: `npm test -- unit gpu`.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { countPlaywright, countVitest } from "./lib/counts.mjs";
import { root, runScript, SetupError } from "./lib/script.mjs";
import { setUp } from "./lib/setup.mjs";

/**
 * @typedef {import("./lib/counts.mjs").Counts} Counts
 *
 * @typedef {object} Tier
 * @property {string} name
 * @property {string[][]} commands arguments for Node, run in this order until one fails
 * @property {number} limitMinutes a tier that takes longer is stopped and has failed
 * @property {(report: string) => Counts} [count] reads the counts of a tier that runs tests from its report
 */

const reports = join(root, "node_modules", ".cache", "twinloop-reports");

/** @param {string} packageName @param {string} file */
const bin = (packageName, file) => join("node_modules", packageName, file);
const vitest = bin("vitest", "vitest.mjs");

/** @param {string} name @param {string} reportFile @returns {string[][]} */
const vitestCommand = (name, reportFile) => [
  [vitest, "run", "--project", name, "--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`],
];

/** @param {string} name */
const reportOf = (name) => join(reports, `${name}.json`);

/** @type {Tier[]} */
const tiers = [
  {
    name: "format and lint",
    commands: [[bin("@biomejs/biome", "bin/biome"), "check", "--error-on-warnings", "."]],
    limitMinutes: 5,
  },
  {
    name: "types",
    commands: [
      [bin("typescript", "bin/tsc"), "-p", "src"],
      [bin("typescript", "bin/tsc"), "-p", "."],
    ],
    limitMinutes: 10,
  },
  {
    name: "arrows",
    commands: [
      [bin("dependency-cruiser", "bin/dependency-cruise.mjs"), "--config", ".dependency-cruiser.cjs", "src", "app"],
    ],
    limitMinutes: 5,
  },
  { name: "dead files", commands: [[bin("knip", "bin/knip.js")]], limitMinutes: 5 },
  { name: "unit", commands: vitestCommand("unit", reportOf("unit")), limitMinutes: 15, count: countVitest },
  { name: "gpu", commands: vitestCommand("gpu", reportOf("gpu")), limitMinutes: 25, count: countVitest },
  { name: "build", commands: [[bin("vite", "bin/vite.js"), "build"]], limitMinutes: 5 },
  {
    name: "browser",
    commands: [[bin("@playwright/test", "cli.js"), "test"]],
    limitMinutes: 50,
    count: countPlaywright,
  },
];

/**
 * Runs a command in a process group of its own, so that a tier that hangs can be ended with all its children.
 * @param {string[]} args @param {Record<string, string>} env @param {number} limitMs
 * @returns {Promise<number>} exit code; 124 when the limit was reached
 */
function run(args, env, limitMs) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...(process.stdout.isTTY ? {} : { NO_COLOR: "1" }), ...env },
      stdio: ["ignore", "inherit", "inherit"],
      detached: process.platform !== "win32",
    });
    const end = () => {
      try {
        if (child.pid === undefined) return;
        if (process.platform === "win32") spawnSync("taskkill", ["/pid", String(child.pid), "/t", "/f"]);
        else process.kill(-child.pid, "SIGKILL");
      } catch {
        // It ended by itself meanwhile.
      }
    };
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, limitMs);
    /** @param {NodeJS.Signals} signal */
    const stop = (signal) => {
      end();
      process.exit(signal === "SIGINT" ? 130 : 143);
    };
    process.once("SIGINT", stop).once("SIGTERM", stop);
    child.once("close", (code) => {
      clearTimeout(timer);
      process.off("SIGINT", stop).off("SIGTERM", stop);
      resolve(timedOut ? 124 : (code ?? 1));
    });
    child.once("error", () => resolve(1));
  });
}

/**
 * @param {Tier} tier
 * @returns {Promise<Counts & { name: string, note: string, seconds: number }>}
 */
async function runTier({ name, commands, limitMinutes, count }) {
  console.log(`\n== ${name}`);
  const started = performance.now();
  const report = reportOf(name);
  rmSync(report, { force: true });
  const deadline = started + limitMinutes * 60_000;
  let code = 0;
  for (const command of commands) {
    code = await run(command, { TWINLOOP_REPORT: report }, Math.max(1000, deadline - performance.now()));
    if (code !== 0) break;
  }
  const seconds = (performance.now() - started) / 1000;
  const note = code === 124 ? `stopped after ${limitMinutes} minutes` : code === 0 ? "" : `exit code ${code}`;
  if (!count) return { name, passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0, note, seconds };
  if (!existsSync(report)) return { name, passed: 0, failed: 1, skipped: 0, note: note || "no report", seconds };
  const counts = count(readFileSync(report, "utf8"));
  // Errors outside of tests, and an empty tier, show in neither count: each is one failure.
  if (counts.passed + counts.failed === 0) return { name, ...counts, failed: 1, note: "no test was executed", seconds };
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  return { name, ...counts, note, seconds };
}

await runScript(async () => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !tiers.some((tier) => tier.name === name));
  if (unknown.length > 0) {
    throw new SetupError(`No such tier: ${unknown.join(", ")}. Tiers: ${tiers.map(({ name }) => name).join(", ")}.`);
  }
  // Tiers that do without the missing thing still run; those that need it fail and are counted.
  /** @type {string[]} */
  let missing = [];
  try {
    missing = setUp();
  } catch (error) {
    // Without packages there is nothing to run, and CI still reads the last line.
    if (error instanceof SetupError) {
      console.error(error.message);
      console.log("0 passed, 1 failed");
      process.exitCode = 1;
      return;
    }
    throw error;
  }
  for (const line of missing) console.error(line);
  mkdirSync(reports, { recursive: true });
  for (const name of readdirSync(reports)) rmSync(join(reports, name), { recursive: true });

  const results = [];
  for (const tier of tiers) {
    if (wanted.length === 0 || wanted.includes(tier.name)) results.push(await runTier(tier));
  }

  console.log("\ntier              passed  failed  skipped  seconds");
  for (const { name, passed, failed, skipped, seconds, note } of results) {
    const numbers = [String(passed).padStart(8), String(failed).padStart(8), String(skipped).padStart(9)];
    console.log(`${name.padEnd(16)}${numbers.join("")}${seconds.toFixed(1).padStart(9)}  ${note}`.trimEnd());
  }
  for (const line of missing) console.log(line);
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  if (failed > 0 || passed === 0) process.exitCode = 1;
});

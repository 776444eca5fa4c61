/** Installs the npm packages of the lock file when some are missing. Imports Node's own modules only. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, SetupError } from "./script.mjs";

/** Oldest Node that Vite and the test runner accept. */
const oldestNode = [20, 19];

/** @throws {SetupError} when this Node is too old to run the project at all */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new SetupError(`Node ${oldestNode.join(".")} or later is needed; this is ${process.versions.node}.`);
  }
}

/**
 * Whether what is installed is what the lock file names, judged by npm's own record in node_modules. Packages for
 * other platforms are absent on purpose and do not count.
 */
export function packagesAreInstalled() {
  try {
    const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
    const installed = JSON.parse(readFileSync(join(root, "node_modules", ".package-lock.json"), "utf8")).packages;
    return Object.entries(wanted).every(([path, { version, optional }]) => {
      if (path === "" || (optional && !installed[path])) return true;
      return installed[path]?.version === version && existsSync(join(root, path));
    });
  } catch {
    return false;
  }
}

/**
 * Runs `npm ci` unless everything is there.
 * @throws {SetupError} when npm cannot be run or fails
 */
export function ensurePackages() {
  if (packagesAreInstalled()) return;
  console.error("Installing the npm packages ...");
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env.npm_execpath;
  const viaNode = npm !== undefined && /\.[cm]?js$/.test(npm);
  const result = viaNode
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: ["ignore", 2, 2] })
    : spawnSync("npm", args, { cwd: root, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
  if (result.error) throw new SetupError(`npm could not be started (${result.error.message}): install Node with npm.`);
  if (result.status !== 0 || !packagesAreInstalled()) {
    throw new SetupError("The npm packages could not be installed (npm ci failed, see above): is there a network?");
  }
}

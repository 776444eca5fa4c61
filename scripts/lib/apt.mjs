/**
 * Installs Debian packages for set-up: as root or through passwordless sudo, without questions, and without leaving
 * a trace in /etc/apt. Imports Node's own modules only.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SetupError } from "./script.mjs";

/** @param {string} command @param {string[]} args */
function succeeds(command, args) {
  return spawnSync(command, args, { stdio: "ignore", timeout: 20_000 }).status === 0;
}

/**
 * The words to put before a command that needs root.
 * @returns {string[] | null} null when this user cannot become root without a password
 */
function rootPrefix() {
  if (process.getuid?.() === 0) return [];
  return succeeds("sudo", ["-n", "true"]) ? ["sudo", "-n"] : null;
}

export function hasApt() {
  return process.platform === "linux" && succeeds("apt-get", ["--version"]);
}

/** @returns {Record<string, string>} /etc/os-release as an object */
export function osRelease() {
  try {
    const lines = readFileSync("/etc/os-release", "utf8").split("\n");
    return Object.fromEntries(
      lines
        .filter((line) => line.includes("="))
        .map((line) => {
          const at = line.indexOf("=");
          return [line.slice(0, at), line.slice(at + 1).replace(/^"|"$/g, "")];
        }),
    );
  } catch {
    return {};
  }
}

/**
 * Why packages cannot be installed here, or null when they can.
 * @param {string} packages for the message
 */
export function aptObstacle(packages) {
  if (!hasApt()) return `there is no apt here: install ${packages} by your system's own means`;
  if (rootPrefix() === null) {
    return `this user is not root and has no passwordless sudo: run \`sudo apt-get install ${packages}\``;
  }
  return null;
}

/** @param {string[]} args @returns {boolean} whether apt-get succeeded */
function aptGet(args) {
  const prefix = rootPrefix();
  if (prefix === null) throw new SetupError("apt-get needs root or passwordless sudo.");
  const words = [
    ...prefix,
    "env",
    "DEBIAN_FRONTEND=noninteractive",
    "apt-get",
    "--yes",
    "--quiet=2",
    "--option=DPkg::Lock::Timeout=300",
    "--option=Dpkg::Use-Pty=0",
    "--option=Acquire::Retries=2",
    ...args,
  ];
  const [command = "env", ...rest] = words;
  return spawnSync(command, rest, { stdio: ["ignore", 2, 2] }).status === 0;
}

let listsAreFresh = false;

/**
 * Installs packages from the system's own sources.
 * @param {string[]} packages
 * @returns {boolean} whether apt-get succeeded
 */
export function aptInstall(packages) {
  // One unreachable third-party source must not stop what the others can deliver: only the install counts.
  if (!listsAreFresh) aptGet(["update"]);
  listsAreFresh = true;
  return aptGet(["install", "--no-install-recommends", ...packages]);
}

/**
 * @typedef {object} AptSource one source of packages, as in a deb822 stanza
 * @property {string[]} uris
 * @property {string[]} suites
 * @property {string[]} components
 * @property {string} signedBy path of a keyring, or "" for the system's trusted keys
 */

/**
 * Parses sources of both notations: `deb [options] uri suite components` lines, and deb822 stanzas.
 * @param {string} text
 * @returns {AptSource[]}
 */
export function parseAptSources(text) {
  /** @type {AptSource[]} */
  const sources = [];
  for (const stanza of text.split(/\n\s*\n/)) {
    const lines = stanza.split("\n").filter((line) => !/^\s*(#|$)/.test(line));
    /** @type {Record<string, string>} */
    const fields = {};
    let key = "";
    for (const line of lines) {
      const oneLine = line.match(/^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s*(.*)$/);
      if (oneLine) {
        const [, options = "", uri = "", suite = "", components = ""] = oneLine;
        const signedBy = options.match(/signed-by=(\S+)/i)?.[1] ?? "";
        sources.push({ uris: [uri], suites: [suite], components: components.split(/\s+/).filter(Boolean), signedBy });
        continue;
      }
      const field = line.match(/^([A-Za-z-]+):\s*(.*)$/);
      if (field) key = (field[1] ?? "").toLowerCase();
      // A keyring may stand in the stanza itself, one line of it a line: keep its line breaks.
      if (field) fields[key] = (field[2] ?? "").trim();
      else if (key) fields[key] = `${fields[key] ?? ""}\n ${line.trim()}`;
    }
    const words = (/** @type {string} */ name) => (fields[name] ?? "").split(/\s+/).filter(Boolean);
    if (words("types").includes("deb") && words("enabled")[0] !== "no") {
      const [uris, suites, components] = [words("uris"), words("suites"), words("components")];
      sources.push({ uris, suites, components, signedBy: fields["signed-by"] ?? "" });
    }
  }
  return sources;
}

/** Every source that apt reads on this system. */
function systemSources() {
  const folder = "/etc/apt/sources.list.d";
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /\.(list|sources)$/.test(name)) : [];
  const files = ["/etc/apt/sources.list", ...names.map((name) => join(folder, name))].filter((path) =>
    existsSync(path),
  );
  return files.flatMap((path) => parseAptSources(readFileSync(path, "utf8")));
}

/**
 * The sources of one Debian release with its backports added, written as one `.sources` file.
 * @param {AptSource[]} sources the system's
 * @param {string} release such as "bookworm"
 * @returns {string | null} null when no source of the release is known, so no mirror can be derived
 */
export function sourcesWithBackports(sources, release) {
  const ownSuites = [release, `${release}-updates`, `${release}-security`, `${release}-backports`];
  const ofRelease = sources.filter(({ suites, components }) => {
    return components.includes("main") && suites.some((suite) => ownSuites.includes(suite));
  });
  const base = ofRelease.find(({ suites }) => suites.includes(release));
  if (!base) return null;
  const all = [...ofRelease, { ...base, suites: [`${release}-backports`], components: ["main"] }];
  const stanzas = all.map(({ uris, suites, components, signedBy }) => {
    const known = suites.filter((suite) => ownSuites.includes(suite));
    const lines = ["Types: deb", `URIs: ${uris.join(" ")}`, `Suites: ${known.join(" ")}`];
    lines.push(`Components: ${components.join(" ")}`);
    if (signedBy) lines.push(`Signed-By: ${signedBy}`);
    return lines.join("\n");
  });
  return `${[...new Set(stanzas)].join("\n\n")}\n`;
}

/**
 * Installs packages from the release's backports. Sources, package lists and caches live in a temporary folder that
 * is removed in the end, so the system's own configuration stays as it was whatever happens.
 * @param {string[]} packages
 * @param {string} release such as "bookworm"
 * @returns {boolean} whether they were installed
 */
export function aptInstallFromBackports(packages, release) {
  const text = sourcesWithBackports(systemSources(), release);
  if (text === null) return false;
  const folder = mkdtempSync(join(tmpdir(), "twinloop-apt-"));
  try {
    // apt drops to a user of its own while it downloads.
    chmodSync(folder, 0o755);
    const [parts, lists] = [join(folder, "sources"), join(folder, "lists")];
    for (const path of [parts, lists, join(lists, "partial")]) mkdirSync(path, { mode: 0o755 });
    writeFileSync(join(parts, "twinloop.sources"), text);
    const options = [
      "--option=Dir::Etc::SourceList=/dev/null",
      `--option=Dir::Etc::SourceParts=${parts}`,
      `--option=Dir::State::Lists=${lists}`,
      "--option=Dir::Cache::pkgcache=",
      "--option=Dir::Cache::srcpkgcache=",
    ];
    if (!aptGet([...options, "update"])) return false;
    return aptGet([
      ...options,
      "install",
      "--no-install-recommends",
      `--target-release=${release}-backports`,
      ...packages,
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    // Files that root's apt wrote there are root's: remove them the same way they came.
    if (existsSync(folder)) {
      const [command = "rm", ...rest] = [...(rootPrefix() ?? []), "rm", "-rf", folder];
      spawnSync(command, rest, { stdio: "ignore" });
    }
  }
}

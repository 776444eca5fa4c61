/**
 * Finds the device that Dawn (npm package `webgpu`) shall use in Node and points the Vulkan loader at it. Dawn reads
 * the environment when it is loaded, so call `applyGpuEnvironment()` before anything imports `webgpu`.
 *
 * A candidate counts only when a short child process has created a device on it and read a computed number back:
 * drivers that are listed but too old (Mesa 22 of Debian bookworm) or without hardware drop out by themselves. The
 * finding is cached in node_modules/.cache and probed anew when drivers, device nodes or versions change.
 *
 * Only Node's own modules are imported here: set-up uses this file before packages are installed.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { swiftshaderManifests } from "./chromium.mjs";
import { root } from "./script.mjs";

/**
 * @typedef {object} GpuEnvironment
 * @property {"hardware" | "lavapipe" | "swiftshader" | "chosen"} kind "chosen": by the caller's own environment
 * @property {string} adapter what the adapter calls itself
 * @property {string[]} drivers Vulkan driver manifests; empty: the loader's default (also Metal and Direct3D)
 */

const cacheFile = join(root, "node_modules", ".cache", "twinloop-gpu.json");
const probeScript = join(root, "scripts", "lib", "probeGpu.mjs");

/** Manifests of drivers that compute on the CPU, or that only exist inside virtual machines without a GPU. */
const softwareManifest = /(^|[/\\])(lvp_|vk_swiftshader|libvk_swiftshader|VkICD_mock)/i;
const softwareAdapter = /llvmpipe|lavapipe|swiftshader|software|basic render/i;

/** Every Vulkan driver manifest of the system, in the order of the loader's search path. */
function systemManifests() {
  if (process.platform !== "linux") return [];
  const home = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share");
  const dataDirs = (process.env.XDG_DATA_DIRS || "/usr/local/share:/usr/share").split(":").filter(Boolean);
  const folders = new Set([
    ...[home, "/etc", "/usr/local/etc", ...dataDirs].map((folder) => join(folder, "vulkan", "icd.d")),
    "/usr/share/vulkan/icd.d",
  ]);
  const manifests = [];
  for (const folder of folders) {
    try {
      for (const name of readdirSync(folder).sort()) if (name.endsWith(".json")) manifests.push(join(folder, name));
    } catch {
      // Folders of the search path that do not exist are normal.
    }
  }
  return manifests;
}

/**
 * Candidates in order of preference.
 * @returns {{ kind: GpuEnvironment["kind"], drivers: string[] }[]}
 */
function candidates() {
  const own = process.env.VK_DRIVER_FILES || process.env.VK_ICD_FILENAMES;
  if (own) return [{ kind: "chosen", drivers: own.split(":").filter(Boolean) }];
  const manifests = systemManifests();
  const hardware = manifests.filter((path) => !softwareManifest.test(path));
  const lavapipe = manifests.filter((path) => /(^|[/\\])lvp_/i.test(path));
  /** @type {{ kind: GpuEnvironment["kind"], drivers: string[] }[]} */
  const list = [];
  if (process.platform !== "linux") list.push({ kind: "hardware", drivers: [] });
  else if (hardware.length > 0) list.push({ kind: "hardware", drivers: hardware });
  for (const path of lavapipe) list.push({ kind: "lavapipe", drivers: [path] });
  for (const path of swiftshaderManifests()) list.push({ kind: "swiftshader", drivers: [path] });
  return list;
}

/** @param {string[]} drivers */
function variables(drivers) {
  // The newer name wins in new loaders, the older one is the only one that old loaders know.
  return drivers.length > 0 ? { VK_DRIVER_FILES: drivers.join(":"), VK_ICD_FILENAMES: drivers.join(":") } : {};
}

/**
 * @param {{ kind: GpuEnvironment["kind"], drivers: string[] }} candidate
 * @returns {GpuEnvironment | null}
 */
function probe({ kind, drivers }) {
  const child = spawnSync(process.execPath, [probeScript], {
    env: { ...process.env, ...variables(drivers) },
    encoding: "utf8",
    timeout: 60_000,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const line = child.stdout?.split("\n").find((text) => text.startsWith("adapter "));
  // Dawn may crash while it is torn down; what counts is that the computed number came back.
  if (!line) return null;
  const adapter = line.slice("adapter ".length).trim();
  if (kind === "hardware" && softwareAdapter.test(adapter)) return null;
  return { kind, adapter, drivers };
}

/** What the finding depends on; a cached finding with another fingerprint is not used. */
function fingerprint() {
  /** @param {string} path */
  const stamp = (path) => {
    try {
      const { mtimeMs, size } = statSync(path);
      return `${path}:${mtimeMs}:${size}`;
    } catch {
      return `${path}:absent`;
    }
  };
  const list = candidates();
  const devices = ["/dev/dri", "/dev/nvidia0", "/dev/dxg"].filter((path) => existsSync(path));
  const dawn = stamp(join(root, "node_modules", "webgpu", "package.json"));
  return JSON.stringify([process.version, dawn, devices, list.map(({ kind, drivers }) => [kind, drivers.map(stamp)])]);
}

/**
 * The device to use, from the cache when nothing changed since.
 * @param {{ fresh?: boolean }} [options] fresh: probe even when a cached finding exists
 * @returns {GpuEnvironment | null} null when no candidate can compute
 */
export function findGpuEnvironment({ fresh = false } = {}) {
  const key = fingerprint();
  if (!fresh) {
    try {
      const cached = JSON.parse(readFileSync(cacheFile, "utf8"));
      if (cached.key === key && cached.found) return cached.found;
    } catch {
      // No cache yet, or one of an older form: probe.
    }
  }
  for (const candidate of candidates()) {
    const found = probe(candidate);
    if (!found) continue;
    try {
      mkdirSync(dirname(cacheFile), { recursive: true });
      writeFileSync(cacheFile, `${JSON.stringify({ key, found })}\n`);
    } catch {
      // A read-only tree: the next start probes again.
    }
    return found;
  }
  return null;
}

/**
 * One line for people.
 * @param {GpuEnvironment | null} found
 */
export function describeGpuEnvironment(found) {
  if (!found) return "No WebGPU device was found, neither a GPU nor a software one: run `npm run setup`.";
  const kinds = {
    hardware: "GPU",
    lavapipe: "software device (Mesa lavapipe)",
    swiftshader: "software device (SwiftShader)",
    chosen: "device chosen by VK_DRIVER_FILES",
  };
  return `WebGPU in Node: ${kinds[found.kind]}, ${found.adapter}`;
}

/**
 * Points this process, and the children it starts, at the device. Must run before `webgpu` is imported.
 * @param {{ fresh?: boolean }} [options]
 * @returns {GpuEnvironment | null}
 */
export function applyGpuEnvironment(options) {
  const found = findGpuEnvironment(options);
  if (found) Object.assign(process.env, variables(found.drivers));
  return found;
}

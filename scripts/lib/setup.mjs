/**
 * Everything that set-up does, as functions for `npm run setup` and `npm test`: the npm packages, a browser for the
 * browser tests, a WebGPU device for Node. What is there already costs no more than looking.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { aptInstall, aptInstallFromBackports, aptObstacle, osRelease } from "./apt.mjs";
import { findChromium } from "./chromium.mjs";
import { describeGpuEnvironment, findGpuEnvironment } from "./gpuEnvironment.mjs";
import { ensurePackages, requireNode } from "./packages.mjs";
import { root } from "./script.mjs";

/**
 * Playwright's own Chromium, for systems whose package manager has none that works.
 * @param {boolean} withLibraries also install the system libraries it needs; works as root on Debian and Ubuntu only
 */
function installPlaywrightChromium(withLibraries) {
  console.error("Downloading Playwright's Chromium ...");
  const cli = join(root, "node_modules", "playwright", "cli.js");
  const args = ["install", "--no-shell", ...(withLibraries ? ["--with-deps"] : []), "chromium"];
  // Its own messages are pages of stack traces when there is no network; set-up says in one line what is missing.
  spawnSync(process.execPath, [cli, ...args], { cwd: root, stdio: "ignore", timeout: 15 * 60_000 });
}

/** @returns {string | null} what is missing, or null when a browser is there */
function ensureChromium() {
  if (findChromium()) return null;
  if (process.env.CHROMIUM_PATH) return `CHROMIUM_PATH names no working browser: ${process.env.CHROMIUM_PATH}`;
  const obstacle = aptObstacle("chromium");
  // Ubuntu's package of that name is a stand-in for a snap, which containers cannot run.
  if (obstacle === null && osRelease().ID !== "ubuntu") {
    console.error("Installing Chromium through apt ...");
    aptInstall(["chromium"]);
    if (findChromium()) return null;
  }
  installPlaywrightChromium(obstacle === null);
  if (findChromium()) return null;
  return `No Chromium or Chrome was found, and none could be installed: ${obstacle ?? "is there a network?"}`;
}

/** @returns {string | null} what is missing, or null when Node has a WebGPU device */
function ensureDevice() {
  if (findGpuEnvironment()) return null;
  if (process.env.VK_DRIVER_FILES || process.env.VK_ICD_FILENAMES) {
    return "VK_DRIVER_FILES or VK_ICD_FILENAMES names no usable Vulkan driver: unset it, or correct it.";
  }
  if (process.platform !== "linux") return "This system offers no WebGPU device: update its graphics driver.";
  const { ID, VERSION_CODENAME } = osRelease();
  // On Debian the loader and Chromium's SwiftShader are enough whatever the release's Mesa is.
  const obstacle = aptObstacle(ID === "debian" ? "libvulkan1 chromium" : "libvulkan1 mesa-vulkan-drivers");
  if (obstacle !== null) return `No WebGPU device for Node was found, and none could be installed: ${obstacle}`;
  console.error("Installing a software Vulkan device through apt ...");
  // Dawn refuses the Mesa 22 of Debian 12 itself; its backports have one that is new enough.
  const attempts = [
    ...(ID === "debian" && VERSION_CODENAME === "bookworm"
      ? [() => aptInstallFromBackports(["mesa-vulkan-drivers", "libvulkan1"], "bookworm")]
      : [() => aptInstall(["mesa-vulkan-drivers", "libvulkan1"])]),
    // The loader alone is enough for the SwiftShader that Chromium brings along.
    () => aptInstall(["libvulkan1"]),
    () => aptInstall(["libvulkan1", "chromium"]),
  ];
  for (const attempt of attempts) {
    attempt();
    if (findGpuEnvironment({ fresh: true })) return null;
  }
  return "No WebGPU device for Node was found, and none could be installed: is there a network?";
}

/**
 * The whole set-up.
 * @returns {string[]} one line for each thing that is missing; empty when all is there
 * @throws {import("./script.mjs").SetupError} when not even the npm packages can be installed
 */
export function setUp() {
  requireNode();
  ensurePackages();
  const missing = [ensureChromium(), ensureDevice()].filter((line) => line !== null);
  const browser = findChromium();
  if (browser) console.error(`Browser for tests: ${browser}`);
  const device = findGpuEnvironment();
  if (device) console.error(describeGpuEnvironment(device));
  return missing;
}

/** Finds a Chromium-family browser for the browser tests. Imports Node's own modules only. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

const fixedPaths = {
  linux: ["/opt/google/chrome/chrome", "/snap/bin/chromium"],
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ],
  win32: [
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
  ],
};

/** Browsers that Playwright itself downloaded, newest first; it keeps one folder per revision. */
function playwrightPaths() {
  const folders = {
    linux: join(homedir(), ".cache", "ms-playwright"),
    darwin: join(homedir(), "Library", "Caches", "ms-playwright"),
    win32: join(homedir(), "AppData", "Local", "ms-playwright"),
  };
  const folder = process.env.PLAYWRIGHT_BROWSERS_PATH || folders[/** @type {"linux"} */ (process.platform)];
  const inside = {
    linux: [
      ["chrome-linux", "chrome"],
      ["chrome-linux64", "chrome"],
    ],
    darwin: [["chrome-mac", "Chromium.app", "Contents", "MacOS", "Chromium"]],
    win32: [
      ["chrome-win", "chrome.exe"],
      ["chrome-win64", "chrome.exe"],
    ],
  }[/** @type {"linux"} */ (process.platform)];
  if (!folder || !inside || !existsSync(folder)) return [];
  const revision = (/** @type {string} */ name) => Number(name.slice("chromium-".length));
  return readdirSync(folder)
    .filter((name) => /^chromium-\d+$/.test(name))
    .sort((a, b) => revision(b) - revision(a))
    .flatMap((name) => inside.map((parts) => join(folder, name, ...parts)));
}

/** Ubuntu installs a script of this name that only asks for a snap: a browser counts when it tells its version. */
function answers(/** @type {string} */ path) {
  if (!existsSync(path)) return false;
  // On Windows `--version` opens a window; on macOS and Windows there are no such stand-ins either.
  if (process.platform !== "linux") return true;
  const result = spawnSync(path, ["--version"], {
    encoding: "utf8",
    timeout: 20_000,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return result.status === 0 && /\d+\.\d+/.test(result.stdout);
}

/** @returns {string | null} path of the browser: CHROMIUM_PATH first, then the system's, then Playwright's own */
export function findChromium() {
  const own = process.env.CHROMIUM_PATH;
  if (own) return answers(own) ? own : null;
  const folders = (process.env.PATH || "").split(delimiter).filter(Boolean);
  const onPath =
    process.platform === "linux" ? names.flatMap((name) => folders.map((folder) => join(folder, name))) : [];
  const fixed = fixedPaths[/** @type {"linux"} */ (process.platform)] ?? [];
  return [...onPath, ...fixed, ...playwrightPaths()].find(answers) ?? null;
}

/** Driver manifests of the SwiftShader that Chromium brings along: usable by Dawn in Node as well. */
export function swiftshaderManifests() {
  const folders = ["/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome"];
  for (const path of playwrightPaths()) if (existsSync(path)) folders.push(dirname(realpathSync(path)));
  return folders.map((folder) => join(folder, "vk_swiftshader_icd.json")).filter((path) => existsSync(path));
}

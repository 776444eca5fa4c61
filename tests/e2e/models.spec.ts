/** Checkpoints of a visitor's own, their store, the device and its self-test, as a visitor meets them. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";
import { strings } from "../../app/strings";
import type { ModelConfig } from "../../src/checkpoint/config";
import { openCheckpoint } from "../../src/checkpoint/load";
import { folderSource } from "../../src/checkpoint/nodeFolder";
import { randomCheckpointFiles } from "../../src/checkpoint/randomCheckpoint";
import { onnxData, onnxExport } from "../../src/onnx/writer";
import { COMMIT, type FakeHub, type Fault, startFakeHub } from "./hubServer";
import { askButton, expectGoldAnswer, expectReady, presets, test } from "./room";

const text = strings.models;
/** On a busy machine. */
const LONG_MS = 120_000;
const SHARD = "model-00002-of-00002.safetensors";

/** A checkpoint of random weights for the tokenizer of a shipped agent. */
async function checkpoint(shards: number, change: Partial<ModelConfig> = {}): Promise<Record<string, Uint8Array>> {
  const config: ModelConfig = {
    modelType: "qwen3",
    vocabSize: 699,
    hiddenSize: 64,
    intermediateSize: 96,
    layers: 2,
    heads: 4,
    kvHeads: 2,
    headDim: 32,
    ropeTheta: 1e6,
    rmsNormEps: 1e-6,
    tieWordEmbeddings: true,
    qkvBias: false,
    oBias: false,
    qkNorm: true,
    maxPositions: 2048,
    eosIds: [692],
    ...change,
  };
  const tokenizer = ["tokenizer.json", "tokenizer_config.json"].map(async (name) => {
    return [name, new Uint8Array(await readFile(`public/models/twinloop-relay-s/${name}`))] as const;
  });
  return {
    ...randomCheckpointFiles(config, { dtype: "BF16", shards }),
    ...Object.fromEntries(await Promise.all(tokenizer)),
  };
}

let hub: FakeHub;
// Whole checkpoints are opened, copied and loaded, on a software device.
test.describe.configure({ timeout: 420_000 });
test.beforeAll(async () => {
  hub = await startFakeHub(await checkpoint(2));
});
test.afterAll(() => hub.close());
test.beforeEach(() => hub.reset());

const region = (page: Page, name: string | RegExp) =>
  page.getByRole("region", { name, exact: typeof name === "string" });
const opened = (page: Page, name = "some/model") => region(page, text.checkpoint.title(name));
const loadedModels = (page: Page) => region(page, text.loaded.title);
const stored = (page: Page) => region(page, text.store.title);
const device = (page: Page) => region(page, text.device.title);
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

async function openRoom(page: Page, search = ""): Promise<void> {
  await page.goto(`#/models${search}`);
  await expect(device(page)).toContainText(text.device.adapter, { timeout: LONG_MS });
}

const hubSearch = (more = "") => `?source=hub&id=some/model&host=${encodeURIComponent(hub.url)}${more}`;

async function look(page: Page): Promise<void> {
  await button(page, text.open.look).click();
}

async function load(page: Page, name = "some/model"): Promise<void> {
  await opened(page, name).getByRole("button", { name: text.checkpoint.load, exact: true }).click();
  await expect(page.getByText(text.checkpoint.loaded(name))).toBeVisible({ timeout: LONG_MS });
}

/** Everything that outlives this page: its address, what the browser keeps of it, and every file of the store. */
function whatStays(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const found = [location.href, document.cookie, JSON.stringify({ ...localStorage, ...sessionStorage })];
    const walk = async (folder: FileSystemDirectoryHandle) => {
      for await (const entry of (folder as unknown as { values(): AsyncIterable<FileSystemHandle> }).values()) {
        if (entry.kind === "directory") await walk(entry as FileSystemDirectoryHandle);
        else found.push(entry.name, await (await (entry as FileSystemFileHandle).getFile()).text());
      }
    };
    await walk(await navigator.storage.getDirectory());
    return found;
  });
}

const sentWeights = () =>
  [...hub.sent].filter(([name]) => name.endsWith(".safetensors")).reduce((sum, [, n]) => sum + n, 0);
const weightBytes = () =>
  Object.entries(hub.files)
    .filter(([name]) => name.endsWith(".safetensors"))
    .reduce((sum, [, { length }]) => sum + length, 0);

/** Runs the ring and sees the model think in it. */
async function expectRecursion(page: Page, name: string): Promise<void> {
  const recursion = strings.latentRecursion;
  const run = page.getByRole("button", { name: recursion.run.start, exact: true });
  await expect(run).toBeEnabled({ timeout: LONG_MS });
  await run.click();
  await expect(page.getByText(recursion.status.answered, { exact: true })).toBeVisible({ timeout: LONG_MS });
  await expect(region(page, recursion.ring.title)).toContainText(recursion.ring.width(64));
  await expect(page.getByLabel(recursion.space.label).getByRole("option")).toContainText([name]);
}

test("a sharded checkpoint of the hub is listed, priced, loaded, kept over a reload, and deleted", async ({ page }) => {
  await openRoom(page, hubSearch());
  await look(page);
  const frame = opened(page);
  await expect(frame).toContainText("qwen3", { timeout: LONG_MS });
  await expect(frame.getByRole("list", { name: text.checkpoint.fileList })).toContainText(SHARD);
  // Nothing but headers has come so far.
  expect(sentWeights()).toBeLessThan(weightBytes() / 4);

  // The price follows the context and the format at once.
  const memory = frame.getByLabel(text.memory.label("some/model"));
  const before = await memory.textContent();
  await frame.getByLabel(text.checkpoint.context.input).fill("64");
  await expect(memory).not.toHaveText(before ?? "");
  const short = await memory.textContent();
  await frame.getByLabel(text.checkpoint.weights.label).selectOption("q8");
  await expect(memory).not.toHaveText(short ?? "");
  await frame.getByLabel(text.checkpoint.weights.label).selectOption("stored");
  await frame.getByLabel(text.checkpoint.context.input).fill("512");

  // One bar over all bytes, copied and put on the device: it never goes back.
  await page.evaluate((label) => {
    const seen: number[] = [];
    Object.assign(globalThis, { seen });
    new MutationObserver(() => {
      const bar = document.querySelector(`[role="progressbar"][aria-label="${label}"]`);
      if (bar) seen.push(Number(bar.getAttribute("aria-valuenow")));
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  }, text.checkpoint.progress);
  await load(page);
  await expect(loadedModels(page)).toContainText("some/model");
  await expect(loadedModels(page)).toContainText(text.loaded.context("512"));
  const shares = await page.evaluate(() => (globalThis as unknown as { seen: number[] }).seen);
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
  expect(Math.max(...shares)).toBeGreaterThan(50);
  expect(sentWeights()).toBeGreaterThanOrEqual(weightBytes());
  await expect(stored(page)).toContainText("some/model");
  await expect(stored(page)).toContainText(COMMIT.slice(0, 8));

  await page.reload();
  await expect(stored(page)).toContainText("some/model", { timeout: LONG_MS });
  hub.reset();
  await button(page, text.store.open("some/model")).click();
  await expect(opened(page)).toContainText(text.checkpoint.kept, { timeout: LONG_MS });
  await load(page);
  expect(sentWeights()).toBe(0);

  await button(page, text.loaded.unload("some/model")).click();
  await expect(loadedModels(page)).toContainText(text.loaded.none);
  await button(page, text.store.delete("some/model")).click();
  await button(page, text.store.confirmYes).click();
  await expect(stored(page)).toContainText(text.store.none);
});

test("copying can be cancelled in the middle, and goes on from the files that were whole", async ({ page }) => {
  await openRoom(page, hubSearch());
  await look(page);
  await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
  hub.reset();
  hub.faults.set(SHARD, "slow");
  await button(page, text.checkpoint.load).click();
  await expect(opened(page).getByRole("progressbar", { name: text.checkpoint.progress })).toBeAttached();
  await expect.poll(() => hub.sent.get(SHARD) ?? 0, { timeout: LONG_MS }).toBeGreaterThan(0);
  await opened(page).getByRole("button", { name: text.checkpoint.cancel, exact: true }).click();
  await expect(page.getByText(text.checkpoint.cancelled)).toBeVisible();
  await expect(stored(page)).toContainText(`${SHARD} is missing`);
  await expect(loadedModels(page)).toContainText(text.loaded.none);

  hub.reset();
  await load(page);
  expect(hub.sent.get("model-00001-of-00002.safetensors") ?? 0).toBe(0);
  // Browsers may go on within a file of their own cache.
  expect(hub.sent.get(SHARD) ?? 0).toBeGreaterThan(0);
  expect(hub.sent.get(SHARD) ?? 0).toBeLessThanOrEqual(hub.files[SHARD]?.length ?? 0);
});

test("every failure names its file and its reason", async ({ page }) => {
  await openRoom(page, hubSearch());
  const alert = page.getByRole("alert");
  const failures: [string, Fault, RegExp][] = [
    ["config.json", "404", /config\.json is missing: the server answered 404/],
    ["config.json", "html", /config\.json is missing: the server sent a web page instead of the file/],
    ["config.json", "403", /config\.json: the server answered 403: its owner wants a licence to be accepted/],
    ["config.json", "401", /config\.json: the server answered 401: .*access token/],
  ];
  for (const [file, fault, message] of failures) {
    hub.reset();
    hub.faults.set(file, fault);
    await look(page);
    await expect(alert.filter({ hasText: message })).toBeVisible({ timeout: LONG_MS });
    await expect(alert).toContainText(text.checkpoint.todo.modelFilesMissing);
  }
  // A model that the hub does not know, and a server that is too busy, are no faults of files.
  for (const [id, status, message, advice] of [
    ["some/other", "401", /there is no such model, or it is private/, text.checkpoint.todo.modelFilesMissing],
    ["some/model", "429", /config\.json: the server answered 429/, text.checkpoint.todo.serverBusy],
  ] as const) {
    hub.reset();
    if (status === "429") hub.faults.set("config.json", status);
    await page.getByLabel(text.open.id.label, { exact: true }).fill(id);
    await look(page);
    await expect(alert.filter({ hasText: message })).toContainText(advice, { timeout: LONG_MS });
  }
  // While copying: cut off in the middle, replaced by a page, another size than listed.
  for (const [fault, message] of [
    ["truncated", new RegExp(`some/model: ${SHARD}: `)],
    ["html", new RegExp(`${SHARD} is missing: the server sent a web page`)],
  ] as const) {
    hub.reset();
    await look(page);
    await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
    hub.faults.set(SHARD, fault);
    await button(page, text.checkpoint.load).click();
    await expect(alert.filter({ hasText: message })).toBeVisible({ timeout: LONG_MS });
    await expect(alert).toContainText(text.checkpoint.failed);
  }
  hub.reset();
  hub.faults.set(SHARD, "wrongSize");
  await look(page);
  // The header already shows that the file cannot have the size of the list.
  await expect(alert.filter({ hasText: SHARD })).toBeVisible({ timeout: LONG_MS });
});

test("an access token opens a model behind a licence, and goes to the hub only", async ({ page }) => {
  hub.faults.set("config.json", "401");
  await openRoom(page, hubSearch());
  await page.getByLabel(text.open.token.label, { exact: true }).fill("hf_right");
  await look(page);
  await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
  expect([...hub.tokens.hub]).toEqual(["Bearer hf_right"]);
  expect([...hub.tokens.storage]).toEqual([]);
  expect(page.url()).not.toContain("hf_right");

  // Loading it keeps a copy; the token is in nothing that stays.
  await load(page);
  await expect(stored(page)).toContainText("some/model");
  const traces = await whatStays(page);
  expect(traces.some((text) => text.includes('"commit"'))).toBe(true);
  expect(traces.filter((text) => text.includes("hf_right"))).toEqual([]);
});

for (const [kind, lock, typed] of [
  ["a query", { query: "token=s3cret" }, (url: string) => `${url}/?token=s3cret`],
  [
    "a name and password",
    { authorization: `Basic ${Buffer.from("me:s3cret").toString("base64")}` },
    (url: string) => url.replace("//", "//me:s3cret@"),
  ],
] as const) {
  test(`${kind} in an address opens its files, and is in nothing that stays or can be copied`, async ({ page }) => {
    hub.lock = lock;
    await openRoom(page, "?source=url");
    const field = page.getByLabel(text.open.url.label, { exact: true });
    await field.fill(`${hub.storageUrl}/`);
    await look(page);
    await expect(page.getByRole("alert")).toContainText("403", { timeout: LONG_MS });
    // Typed key by key: halves of it are in no address either.
    const seen = new Set<string>();
    await page.exposeFunction("seen", (url: string) => seen.add(url));
    await page.evaluate(() => {
      const push = history.replaceState.bind(history);
      history.replaceState = (...args) => {
        (globalThis as unknown as { seen(url: string): void }).seen(String(args[2]));
        push(...args);
      };
    });
    await field.fill("");
    await field.pressSequentially(typed(hub.storageUrl));
    await look(page);
    const name = new URL(hub.storageUrl).host;
    await expect(opened(page, name)).toBeVisible({ timeout: LONG_MS });
    await load(page, name);
    await expect(stored(page)).toContainText(name);
    await expect(field).toHaveValue(typed(hub.storageUrl));
    const traces = [...(await whatStays(page)), ...seen, (await await page.locator("main").textContent()) ?? ""];
    expect(traces.some((text) => text.includes(`"url":"${hub.storageUrl}/"`))).toBe(true);
    expect(traces.filter((text) => text.includes("s3cret"))).toEqual([]);
    // A failure that names the file does not name the secret.
    hub.faults.set("config.json", "html");
    await look(page);
    await expect(page.getByRole("alert")).toContainText("config.json is missing", { timeout: LONG_MS });
    expect(await page.getByRole("alert").textContent()).not.toContain("s3cret");
  });
}

test("a store that is full says so and what to do, leaves no half a file, and loading goes on without it", async ({
  page,
  context,
  baseURL,
}) => {
  await openRoom(page, hubSearch());
  await look(page);
  await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
  // The page saw room for it, and the disk has filled up since.
  const { origin } = new URL(baseURL ?? "");
  const browser = await context.newCDPSession(page);
  await browser.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 100_000 });
  await button(page, text.checkpoint.load).click();
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("the browser's storage for this page is full", { timeout: LONG_MS });
  await expect(alert).toContainText(text.checkpoint.todo.storageFull);
  await expect(stored(page)).toContainText(/model-0000\d-of-00002\.safetensors is missing/);
  expect((await whatStays(page)).filter((name) => name.endsWith(".part"))).toEqual([]);
  await expect(loadedModels(page)).toContainText(text.loaded.none);
  // What it says to do helps.
  await opened(page).getByRole("switch", { name: text.checkpoint.keep.label }).click();
  await load(page);
  await expect(alert).toHaveCount(0);
  await expect(stored(page)).toContainText(/model-0000\d-of-00002\.safetensors is missing/);

  // With room again, the copy goes on from the files that were whole.
  await browser.send("Storage.overrideQuotaForOrigin", { origin });
  await page.reload();
  await look(page);
  await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
  await load(page);
  await expect(stored(page)).not.toContainText("is missing");
});

test("two tabs: what one is copying the other neither copies nor deletes, and says why", async ({ page, context }) => {
  await openRoom(page, hubSearch());
  await look(page);
  await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
  hub.faults.set(SHARD, "slow");
  await button(page, text.checkpoint.load).click();
  await expect.poll(() => hub.sent.get(SHARD) ?? 0, { timeout: LONG_MS }).toBeGreaterThan(0);

  const other = await context.newPage();
  await openRoom(other, hubSearch());
  await look(other);
  await expect(opened(other)).toBeVisible({ timeout: LONG_MS });
  await button(other, text.checkpoint.load).click();
  await expect(other.getByRole("alert")).toContainText("another tab is using it", { timeout: LONG_MS });
  await button(other, text.store.delete("some/model")).click();
  await button(other, text.store.confirmYes).click();
  await expect(stored(other).getByRole("alert")).toContainText("another tab is using it", { timeout: LONG_MS });

  // Once the first has given up, the other can go on.
  await opened(page).getByRole("button", { name: text.checkpoint.cancel, exact: true }).click();
  await expect(page.getByText(text.checkpoint.cancelled)).toBeVisible();
  hub.reset();
  await load(other);
  await expect(stored(other)).not.toContainText(`${SHARD} is missing`);
});

test("a folder behind an address is loaded in 4 bits without being kept, and writes", async ({ page }) => {
  const url = `${hub.storageUrl}/`;
  await openRoom(page, `?source=url&url=${encodeURIComponent(url)}`);
  await look(page);
  const name = new URL(url).host;
  await expect(opened(page, name)).toBeVisible({ timeout: LONG_MS });
  await opened(page, name).getByLabel(text.checkpoint.weights.label).selectOption("q4");
  await opened(page, name).getByRole("switch", { name: text.checkpoint.keep.label }).click();
  await load(page, name);
  await expect(loadedModels(page)).toContainText("q4");
  // What that costs is measured by itself, models of this size being quick.
  await expect(loadedModels(page)).toContainText(
    /q4 against f32, on 5\d\d tokens of the shipped encyclopedia: perplexity [\d.,]+ instead of [\d.,]+ \([+−][\d.]+%\), the same best token at [\d.]+% of them/,
    { timeout: LONG_MS },
  );
  await expect(stored(page)).toContainText(text.store.none);
  const trial = region(page, text.loaded.try.title);
  await trial.getByRole("button", { name: text.loaded.try.go }).click();
  await expect(trial.getByRole("status")).toContainText(/24 tokens in/, { timeout: LONG_MS });
  // It can be either system of a run now.
  await page.goto("#/dual-system?turns=2");
  await page.getByLabel(text.parts.system1, { exact: true }).selectOption(name);
  await expect(page.getByLabel(text.parts.system2, { exact: true })).toHaveValue("");
  // Thoughts pass through it in fewer bits, gradients do not.
  await page.goto("#/latent-recursion?rounds=1&steps=2&inner=identity&outer=identity&temperature=0.1");
  await page.getByLabel(text.parts.agent("planner"), { exact: true }).selectOption(name);
  await expectRecursion(page, name);
  await page.goto("#/link-training");
  await expect(page.getByText(strings.engines.needs.stored)).toBeVisible();
  await expect(button(page, strings.linkTraining.stages.inner.start)).toBeDisabled();
});

test("an export in ONNX of others plays System 1 and System 2; what needs latents is greyed out with the reason", async ({
  page,
}) => {
  const folder = "public/models/twinloop-1m";
  const exported = onnxExport(await openCheckpoint(folderSource(folder)));
  const pieces: Uint8Array[] = [];
  for await (const piece of onnxData(exported)) pieces.push(piece);
  // It says of itself that it is not ours, so that nothing is assumed about it.
  const graph = Buffer.from(exported.model);
  graph.write("somebody", graph.indexOf("twinloop"));
  const files: Record<string, Uint8Array> = {
    "onnx/model.onnx": graph,
    "onnx/model_q4.onnx": graph,
    [`onnx/${exported.dataFile}`]: Buffer.concat(pieces),
  };
  for (const name of ["config.json", "tokenizer.json", "tokenizer_config.json"]) {
    files[name] = await readFile(`${folder}/${name}`);
  }
  const theirs = await startFakeHub(files);
  try {
    await openRoom(page, `?source=hub&id=some/model&host=${encodeURIComponent(theirs.url)}`);
    await look(page);
    const frame = opened(page);
    await expect(frame).toContainText(text.checkpoint.graphs.limits, { timeout: LONG_MS });
    await expect(frame.getByRole("list", { name: text.checkpoint.fileList })).toContainText(exported.dataFile);
    expect(theirs.sent.get(`onnx/${exported.dataFile}`) ?? 0).toBe(0);
    await expect(frame.getByRole("switch", { name: text.checkpoint.latent.label })).toBeDisabled();
    await expect(frame).toContainText(text.checkpoint.graphs.noLatents);
    await expect(frame.getByLabel(text.checkpoint.weights.label)).toBeDisabled();
    // The other one of its exports.
    await frame.getByLabel(text.checkpoint.graphs.label).selectOption("onnx/model_q4.onnx");
    await expect(frame.getByRole("list", { name: text.checkpoint.fileList })).toContainText("model_q4.onnx");
    await frame.getByLabel(text.checkpoint.graphs.label).selectOption("onnx/model.onnx");
    await expect(frame.getByRole("list", { name: text.checkpoint.fileList })).not.toContainText("model_q4.onnx");
    await load(page);
    await expect(loadedModels(page)).toContainText(text.loaded.engine["onnx-wasm"]);

    // It is kept like any other, with its graph.
    await page.reload();
    await button(page, text.store.open("some/model")).click();
    await expect(opened(page)).toContainText(text.checkpoint.kept, { timeout: LONG_MS });
    theirs.reset();
    await load(page);
    expect([...theirs.sent]).toEqual([]);

    // What has been changed is open.
    await page.goto("#/dual-system?turns=5");
    await expectReady(page);
    for (const part of [text.parts.system1, text.parts.system2]) {
      await page.getByLabel(part, { exact: true }).selectOption("some/model");
    }
    await presets(page).first().click();
    await askButton(page).click();
    await expectGoldAnswer(page);
    await page.getByRole("link", { name: strings.rooms.latentRecursion.title }).click();
    const critic = page.getByLabel(text.parts.agent("critic"), { exact: true });
    await expect(critic.locator("option", { hasText: text.parts.exportOnly("some/model") })).toBeDisabled();
  } finally {
    await theirs.close();
  }
});

test("what does not fit is said with both sizes, and loads anyway", async ({ page }) => {
  const long = await startFakeHub(await checkpoint(1, { maxPositions: 2 ** 23 }));
  try {
    await openRoom(page, `?source=hub&id=some/model&host=${encodeURIComponent(long.url)}`);
    await look(page);
    await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
    await expect(button(page, text.checkpoint.load)).toBeVisible();
    await opened(page)
      .getByLabel(text.checkpoint.context.input)
      .fill(String(2 ** 23));
    await expect(opened(page)).toContainText(text.checkpoint.tooLarge);
    await expect(opened(page)).toContainText(/8388608 tokens, in each layer, takes 2\.0 GiB, and one buffer .* holds/);
    await button(page, text.checkpoint.loadAnyway).click();
    await expect(page.getByText(text.checkpoint.loaded("some/model"))).toBeVisible({ timeout: LONG_MS });
    const trial = region(page, text.loaded.try.title);
    await trial.getByRole("button", { name: text.loaded.try.go }).click();
    await expect(trial.getByRole("status")).toContainText(/24 tokens in/, { timeout: LONG_MS });
  } finally {
    await long.close();
  }
});

test("two checkpoints of one name are two models", async ({ page }) => {
  const other = await startFakeHub(await checkpoint(1, { layers: 1 }));
  try {
    await openRoom(page, hubSearch());
    await look(page);
    await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
    await load(page);
    await page.getByRole("textbox", { name: text.open.host.label, exact: true }).fill(other.url);
    await look(page);
    await expect(opened(page)).not.toContainText(SHARD, { timeout: LONG_MS });
    await opened(page).getByRole("button", { name: text.checkpoint.load, exact: true }).click();
    await expect(page.getByText(text.checkpoint.loaded("some/model (2)"))).toBeVisible({ timeout: LONG_MS });
    await expect(loadedModels(page).getByRole("listitem").filter({ hasText: "some/model" })).toHaveText([
      / 2 layers /,
      / 1 layers /,
    ]);
    // The first one again, by its own name.
    await page.getByRole("textbox", { name: text.open.host.label, exact: true }).fill(hub.url);
    await look(page);
    await expect(opened(page)).toContainText(SHARD, { timeout: LONG_MS });
    await load(page);
    await expect(loadedModels(page).getByRole("listitem").filter({ hasText: "some/model" })).toHaveCount(2);
  } finally {
    await other.close();
  }
});

test("agents of a ring are given a checkpoint of one's own: links by width, thoughts, and training", async ({
  page,
}) => {
  const recursion = strings.latentRecursion;
  const training = strings.linkTraining;
  await openRoom(page, hubSearch());
  await look(page);
  await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
  await load(page);
  await page.goto("#/latent-recursion?rounds=1&steps=2&temperature=0.1");
  await page.getByLabel(text.parts.agent("critic"), { exact: true }).selectOption("some/model");
  // The shipped links are of other widths: they say so, and nothing can be run with them.
  await expect(page.getByRole("alert")).toContainText(recursion.links.misfitHelp("critic", "some/model", 64, 128));
  const run = page.getByRole("button", { name: recursion.run.start, exact: true });
  await expect(run).toBeDisabled();
  await page.getByLabel(recursion.links.inner, { exact: true }).selectOption("identity");
  await page.getByLabel(recursion.links.outer, { exact: true }).selectOption("ridge");
  await expectRecursion(page, "some/model");

  // A few steps of inner links for these agents, whose set then fits them.
  const settings = JSON.stringify({ steps: 3, batch: 2, warmupSteps: 1, rounds: 2, validateEvery: 0 });
  await page.goto(`#/link-training?inner=${encodeURIComponent(settings)}`);
  await button(page, training.stages.inner.start).click();
  const track = region(page, training.stages.inner.title);
  await expect(track.getByText(training.track.states.done, { exact: true })).toBeVisible({ timeout: LONG_MS });
  await page.goto("#/latent-recursion?rounds=1&steps=3&temperature=0.1&links=trained");
  await expectRecursion(page, "some/model");
});

test("a dropped folder is opened from this machine", async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), "twinloop-dropped-"));
  try {
    const files = await checkpoint(1);
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
    await openRoom(page, "?source=files");
    // What a drop of the folder's files gives the page.
    const transfer = await page.evaluateHandle(
      (entries) => {
        const data = new DataTransfer();
        for (const [name, bytes] of entries) data.items.add(new File([Uint8Array.from(bytes)], name));
        return data;
      },
      Object.entries(files).map(([name, bytes]) => [name, [...bytes]] as const),
    );
    await page.getByRole("region", { name: text.open.dropLabel }).dispatchEvent("drop", { dataTransfer: transfer });
    await expect(opened(page, text.open.looseFiles)).toBeVisible({ timeout: LONG_MS });
    // Nothing of use says what is missing.
    const empty = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(["x"], "notes.txt"));
      return data;
    });
    await page.getByRole("region", { name: text.open.dropLabel }).dispatchEvent("drop", { dataTransfer: empty });
    await expect(page.getByRole("alert")).toContainText("config.json is missing", { timeout: LONG_MS });
    // The same folder through the dialog, with files that are none of the model's.
    await mkdir(join(folder, "old"));
    for (const name of ["README.md", "optimizer.pt", "old/config.json", "old/model.safetensors"]) {
      await writeFile(join(folder, name), "not this");
    }
    await page.getByLabel(text.open.choose, { exact: true }).setInputFiles(folder);
    const name = folder.split("/").at(-1) ?? "";
    await expect(opened(page, name)).toBeVisible({ timeout: LONG_MS });
    await load(page, name);
    await page.reload();
    await expect(stored(page)).toContainText(name, { timeout: LONG_MS });
    expect(sentWeights()).toBe(0);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the kernels pass their quick self-test on this device, and the report can be copied", async ({
  page,
  context,
}) => {
  test.setTimeout(600_000);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await openRoom(page);
  const room = region(page, text.test.title).first();
  await button(page, text.test.quick).click();
  await expect(room.getByRole("progressbar", { name: text.test.progress })).toBeVisible();
  await expect(room.getByText(/^All \d+ checks passed/)).toBeVisible({ timeout: 540_000 });
  await expect(room.getByRole("table")).toContainText(text.test.paths.differentiable);
  await button(page, text.test.copy).click();
  const report = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  expect(report.passed).toBe(true);
  const kernels = new Set(report.cases.map(({ kernel }: { kernel: string }) => kernel));
  for (const kernel of ["matmul", "embedding", "sample", "attention", "linear", "adamW", "softmaxCrossEntropy"]) {
    expect(kernels).toContain(kernel);
  }
  for (const format of ["F32", "BF16", "F16", "Q8", "Q4"]) {
    expect(
      report.cases.some(
        ({ kernel, size }: { kernel: string; size: string }) => kernel === "matmul" && size.includes(format),
      ),
    ).toBe(true);
  }
});

test("a full self-test can be cancelled", async ({ page }) => {
  await openRoom(page);
  const room = region(page, text.test.title).first();
  await button(page, text.test.all).click();
  await expect(room.getByRole("table")).toBeVisible({ timeout: LONG_MS });
  await room.getByRole("button", { name: text.test.cancel, exact: true }).click();
  await expect(room.getByText(/^Stopped after \d+ checks/)).toBeVisible({ timeout: LONG_MS });
});

test("a lost device is told of, and one click brings everything back", async ({ page }) => {
  await openRoom(page);
  await button(page, text.loaded.loadShipped).click();
  await expect(loadedModels(page)).toContainText("twinloop-1m", { timeout: LONG_MS });
  for (let round = 0; round < 2; round++) {
    await button(page, text.device.lose).click();
    await expect(page.getByRole("alert")).toContainText(text.device.lost);
    await expect(page.getByRole("alert")).toContainText("twinloop-1m");
    await expect(loadedModels(page)).toContainText(text.loaded.none);
    await button(page, text.device.bringBack).click();
    await expect(page.getByText(text.device.broughtBack("twinloop-1m"))).toBeVisible({ timeout: LONG_MS });
    await expect(loadedModels(page)).toContainText("twinloop-1m");
  }
  await page.goto("#/dual-system");
  await expect(page.getByRole("region", { name: strings.device.label, exact: true })).toContainText("parameters", {
    timeout: LONG_MS,
  });
});

test("without the GPU models run on the processor", async ({ page }) => {
  await openRoom(page);
  await page.getByRole("switch", { name: text.device.noGpu }).check({ force: true });
  await button(page, text.loaded.loadShipped).click();
  await expect(loadedModels(page)).toContainText(text.loaded.engine["onnx-wasm"], { timeout: LONG_MS });
});

test("the keyboard alone opens and loads a checkpoint", async ({ page }) => {
  await page.goto("#/dual-system");
  await expect(page.getByRole("navigation")).toBeVisible();
  const place = await page
    .getByRole("navigation")
    .getByRole("listitem")
    .evaluateAll((items) => items.findIndex((item) => (item as HTMLElement).dataset.path === "/models"));
  await page.keyboard.press(String(place + 1));
  await expect(page).toHaveURL(/#\/models/);
  await page.goto(`#/models${hubSearch()}`);
  await expect(device(page)).toContainText(text.device.adapter, { timeout: LONG_MS });
  const tabTo = async (target: ReturnType<Page["getByRole"]>) => {
    for (let presses = 0; presses < 60; presses++) {
      if (await target.evaluate((element) => element === document.activeElement).catch(() => false)) return;
      await page.keyboard.press("Tab");
    }
    await expect(target).toBeFocused();
  };
  await tabTo(page.getByLabel(text.open.id.label, { exact: true }));
  await page.keyboard.press("Enter");
  await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
  await tabTo(page.getByRole("slider", { name: text.checkpoint.context.label }));
  const context = page.getByLabel(text.checkpoint.context.input);
  const before = await context.inputValue();
  await page.keyboard.press("ArrowLeft");
  await expect(context).not.toHaveValue(before);
  await tabTo(button(page, text.checkpoint.load));
  await page.keyboard.press("Enter");
  await expect(page.getByText(text.checkpoint.loaded("some/model"))).toBeVisible({ timeout: LONG_MS });
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`axe finds nothing serious, and a phone shows one column: ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await openRoom(page, hubSearch());
    await look(page);
    await expect(opened(page)).toBeVisible({ timeout: LONG_MS });
    await load(page);
    await button(page, text.device.lose).click();
    await expect(page.getByRole("alert")).toContainText(text.device.lost);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    expect(
      serious.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`),
      ),
    ).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });
}

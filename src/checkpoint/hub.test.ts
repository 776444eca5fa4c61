/** A real HTTP server that imitates the hub: lists, redirects to another origin, ranges, tokens, pages. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ModelConfig } from "./config";
import { checkpointFiles, type HubListing, hubSource, listHubModel, parseHubId } from "./hub";
import { openCheckpoint } from "./load";
import { randomCheckpointFiles } from "./randomCheckpoint";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const CONFIG: ModelConfig = {
  modelType: "llama",
  vocabSize: 20,
  hiddenSize: 8,
  intermediateSize: 12,
  layers: 2,
  heads: 2,
  kvHeads: 1,
  headDim: 4,
  ropeTheta: 10000,
  rmsNormEps: 1e-6,
  tieWordEmbeddings: false,
  qkvBias: false,
  oBias: false,
  qkNorm: false,
  maxPositions: 32,
  eosIds: [],
};
const contents: Record<string, Uint8Array> = {
  ...randomCheckpointFiles(CONFIG, { shards: 2, dtype: "BF16" }),
  "tokenizer.json": new TextEncoder().encode("{}"),
  "README.md": new TextEncoder().encode("# Model"),
};

interface Request {
  path: string;
  token: string | undefined;
}
let requests: Request[] = [];
let hub: Server;
let storage: Server;
let host: string;
let storageHost: string;
/** Instead of the list. */
let answer: ((response: ServerResponse) => void) | undefined;

const listen = async (handle: (request: IncomingMessage, response: ServerResponse) => void) => {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, at: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

beforeAll(async () => {
  ({ server: storage, at: storageHost } = await listen((request, response) => {
    requests.push({ path: `storage ${request.url}`, token: request.headers.authorization });
    const content = contents[decodeURIComponent(request.url!.slice(1))]!;
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    if (!range) return response.writeHead(200, { ETag: '"x"' }).end(content);
    const end = Math.min(Number(range[2]) + 1, content.length);
    const part = content.subarray(Number(range[1]), end);
    const headers = { "Content-Range": `bytes ${range[1]}-${end - 1}/${content.length}`, ETag: '"x"' };
    return response.writeHead(206, headers).end(part);
  }));
  ({ server: hub, at: host } = await listen((request, response) => {
    requests.push({ path: request.url!, token: request.headers.authorization });
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    if (request.url!.startsWith("/api/models/some/model/revision/")) {
      if (answer) return answer(response);
      const siblings = Object.entries(contents).map(([rfilename, { length }]) =>
        rfilename.endsWith(".safetensors")
          ? { rfilename, size: length, lfs: { sha256: "f".repeat(64), size: length } }
          : { rfilename, size: length },
      );
      return json(200, { id: "some/model", sha: COMMIT, siblings });
    }
    const file = request.url!.split(`/some/model/resolve/${COMMIT}/`)[1];
    if (!file || !contents[decodeURIComponent(file)]) return json(404, { error: "Entry not found" });
    return response.writeHead(302, { Location: `${storageHost}/${file}` }).end();
  }));
});
afterAll(() => {
  for (const server of [hub, storage]) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => {
  requests = [];
  answer = undefined;
});

const model = (more = {}) => ({ id: "some/model", host, ...more });

const REVISED_MIRROR = { id: "a/b", revision: "feature/x", host: "https://mirror.example:8443" };
describe("parseHubId", () => {
  it.each([
    ["Qwen/Qwen3-0.6B", { id: "Qwen/Qwen3-0.6B" }],
    [" Qwen/Qwen3-0.6B@main ", { id: "Qwen/Qwen3-0.6B", revision: "main" }],
    ["https://huggingface.co/Qwen/Qwen3-0.6B", { id: "Qwen/Qwen3-0.6B" }],
    ["https://huggingface.co/a/b/tree/refs/pr/3/", { id: "a/b", revision: "refs/pr/3" }],
    ["https://huggingface.co/a/b/blob/v1.0/onnx/model.onnx?download=true", { id: "a/b", revision: "v1.0" }],
    ["https://me:hf_secret@huggingface.co/a/b", { id: "a/b" }],
    ["https://mirror.example:8443/a/b/resolve/feature%2Fx/", REVISED_MIRROR],
    ["huggingface.co/a/b/tree/main", { id: "a/b", revision: "main" }],
    ["a/b/tree/main", { id: "a/b", revision: "main" }],
    ["no-organisation", undefined],
    ["https://huggingface.co/datasets/a/b", undefined],
    ["../secret", undefined],
    ["a/b/c", undefined],
    ["", undefined],
  ])("%j", (text, wanted) => expect(parseHubId(text)).toEqual(wanted));
});

describe("a model of the hub", () => {
  it("is listed with sizes and hashes, and read at that commit through redirects", async () => {
    const listing = await listHubModel(model({ revision: "refs/pr/1" }));
    expect(requests[0]!.path).toBe("/api/models/some/model/revision/refs%2Fpr%2F1?blobs=true");
    expect(listing.commit).toBe(COMMIT);
    const { weights, weightBytes, others } = checkpointFiles(model(), listing);
    expect(weights.map(({ name }) => name)).toEqual([
      "model.safetensors.index.json",
      "model-00001-of-00002.safetensors",
      "model-00002-of-00002.safetensors",
    ]);
    expect(weightBytes).toBe(weights.reduce((sum, { name }) => sum + contents[name]!.length, 0));
    expect(weights[1]!.sha256).toBe("f".repeat(64));
    expect(others.map(({ name }) => name)).toEqual(["config.json", "tokenizer.json"]);

    const checkpoint = await openCheckpoint(hubSource(model(), listing));
    for (const tensor of checkpoint.tensors.values()) await tensor.read();
    expect(checkpoint.config.modelType).toBe("llama");
    // Nothing is asked for that the list does not have.
    expect(requests.some(({ path }) => path.includes("generation_config"))).toBe(false);
    expect(requests.filter(({ path }) => path.startsWith("/some/")).every(({ path }) => path.includes(COMMIT))).toBe(
      true,
    );
  });

  it("shows its token to the hub, and to no other host", async () => {
    const secret = model({ token: "hf_secret" });
    const source = hubSource(secret, await listHubModel(secret));
    await source.file("config.json");
    await source.range("model-00001-of-00002.safetensors", 0, 8);
    const [own, foreign] = [true, false].map((isHub) =>
      requests.filter(({ path }) => path.startsWith("storage") !== isHub).map(({ token }) => token),
    );
    expect(new Set(own)).toEqual(new Set(["Bearer hf_secret"]));
    expect(foreign!.length).toBeGreaterThan(0);
    expect(new Set(foreign)).toEqual(new Set([undefined]));
  });

  it("says why it cannot be had", async () => {
    for (const [status, token, message] of [
      [401, undefined, "some/model@main: there is no such model, or it is private and needs an access token"],
      [401, "t", "or the access token does not open it"],
      [403, "t", "its owner wants a licence to be accepted"],
      [404, undefined, "there is no such model or revision"],
      [429, undefined, "asks to wait"],
      [503, undefined, "answered 503"],
    ] as const) {
      answer = (response) => response.writeHead(status).end("<html>no</html>");
      await expect(listHubModel(model(token ? { token } : {}))).rejects.toThrow(message);
    }
    answer = (response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html>");
    await expect(listHubModel(model())).rejects.toThrow("something else than a list of files");
    await expect(listHubModel({ id: "some/model", host: "http://127.0.0.1:1" })).rejects.toThrow("cannot be reached");
    const controller = new AbortController();
    controller.abort(new Error("enough"));
    await expect(listHubModel(model(), { signal: controller.signal })).rejects.toThrow("enough");
  });

  it("names what is missing", async () => {
    const listing = (...names: string[]): HubListing => {
      return { commit: COMMIT, files: names.map((name) => ({ name, bytes: 1 })) };
    };
    const check = (...names: string[]) => checkpointFiles({ id: "a/b" }, listing(...names));
    expect(() => check("config.json", "onnx/model.onnx")).toThrow(
      "a/b: it has no model.safetensors and no model.safetensors.index.json; it has onnx/model.onnx",
    );
    expect(() => check("model.safetensors", "config.json")).toThrow("a/b: it has no tokenizer.json");
    const source = hubSource(model(), listing("config.json"));
    await expect(source.range("model.safetensors", 0, 8)).rejects.toThrow("some/model: model.safetensors is missing");
  });
});

/** Records runs with the engine of the page in Node; the files of public/ are served to it as to a page. */
import { createHash } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { basename, dirname, extname, join, normalize } from "node:path";
import { nodePython } from "../../src/cli/nodePython";
import { openNodeGpu } from "../../src/gpu/nodeDevice";
import type { TraceEvent } from "../../src/trace/events";
import type { RecursionEvent } from "../../src/trace/recursionEvents";
import { Engine } from "../../src/worker/engine";
import { deviceOf } from "../../src/worker/openDevice";
import type { EngineMessage } from "../../src/worker/protocol";

/** As app/recordings.ts has it. */
interface Recording {
  file: string;
  models: readonly string[];
  links?: { id: string; folder: string };
  record(recorder: object): Promise<string>;
}

/**
 * @param folder public/
 * @param names of files without ending; none: all
 */
export async function recordTraces(
  recordings: readonly Recording[],
  folder: string,
  names: readonly string[],
): Promise<void> {
  const known = recordings.map(({ file }) => basename(file, ".json"));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`there is no recording "${unknown}"; there are ${known.join(", ")}`);
  const server = await serve(folder);
  const { port } = server.address() as { port: number };
  const urlOf = (path: string) => `http://127.0.0.1:${port}/${path}`;
  const python = nodePython();
  const archive = { read: async () => undefined, write: async () => {}, clear: async () => {} };
  const messages: EngineMessage[] = [];
  const engine = new Engine(async () => deviceOf(await openNodeGpu()), python, archive);
  engine.connect({ postMessage: (message) => messages.push(message) });
  const taken = () => {
    const research: TraceEvent[] = [];
    const recursion: RecursionEvent[] = [];
    for (const message of messages.splice(0)) {
      if (message.type === "events") research.push(...message.events);
      if (message.type === "recursionEvents") recursion.push(...message.events);
    }
    return { research, recursion };
  };
  try {
    for (const { file, models, links, record } of recordings) {
      if (names.length > 0 && !names.includes(basename(file, ".json"))) continue;
      const sources = models.map((id) => ({
        id,
        origin: { kind: "url" as const, url: urlOf(`models/${id}/`) },
        engine: "wgsl" as const,
        ...(links && { latent: true }),
      }));
      const loaded = await engine.load({ models: sources });
      if (loaded.status !== "ready") throw new Error(`${file}: ${JSON.stringify(loaded)}`);
      if (links) {
        const fetched = await engine.fetchLinks(links.id, urlOf(links.folder));
        if (fetched.status === "failed") throw new Error(`${file}: ${fetched.problem.detail}`);
      }
      taken();
      const weights = await Promise.all(models.map((id) => sha256(join(folder, "models", id, "model.safetensors"))));
      const text = await record({ engine, device: loaded.devices[0]?.name ?? "", weights, taken });
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
      console.log(`${file}: ${text.length} characters`);
    }
  } finally {
    python.close();
    server.close();
  }
}

const TYPES: Record<string, string> = { ".json": "application/json", ".safetensors": "application/octet-stream" };

async function serve(folder: string): Promise<Server> {
  const server = createServer(async (request, response) => {
    const path = join(folder, normalize(new URL(request.url ?? "/", "http://localhost").pathname));
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "text/plain", "Content-Length": found.size });
    response.end(request.method === "HEAD" ? undefined : await readFile(path));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

async function sha256(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

/** Bytes are counted as they arrive, over files and parts of files, and never beyond what there is. */
import { describe, expect, it } from "vitest";
import { meteredFetch } from "./downloadMeter";

/** A server of one body in chunks. */
function setUp(respond: (url: string) => Response) {
  const reports: [number, number][] = [];
  const metered = meteredFetch(
    (loaded, total) => reports.push([loaded, total]),
    async (input) => respond(String(input)),
  );
  return { reports, metered };
}

function chunked(sizes: number[], init: ResponseInit): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const size of sizes) controller.enqueue(new Uint8Array(size).fill(size));
      controller.close();
    },
  });
  return new Response(body, init);
}

describe("meteredFetch", () => {
  it("counts a whole file chunk by chunk and hands the bytes on", async () => {
    const { metered, reports } = setUp(() => chunked([3, 4], { headers: { "Content-Length": "7" } }));
    const response = await metered("https://host/model.safetensors");
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array([3, 3, 3, 4, 4, 4, 4]));
    expect(reports).toEqual([
      [0, 7],
      [3, 7],
      [7, 7],
    ]);
  });

  it("adds up parts and files, and stops at what there is", async () => {
    const { metered, reports } = setUp(() =>
      chunked([6], { status: 206, headers: { "Content-Range": "bytes 0-5/10", "Content-Length": "6" } }),
    );
    for (const name of ["a.safetensors", "a.safetensors", "b.safetensors"]) {
      const response = await metered(`https://host/${name}`);
      expect(response.status).toBe(206);
      await response.arrayBuffer();
    }
    expect(reports.at(-1)).toEqual([16, 20]);
  });

  it("leaves other files, failures and hidden sizes alone", async () => {
    const json = new Response("{}", { headers: { "Content-Length": "2" } });
    const missing = new Response("no", { status: 404, headers: { "Content-Length": "2" } });
    const hidden = new Response("weights");
    const packed = new Response("weights", { headers: { "Content-Length": "7", "Content-Encoding": "gzip" } });
    const answers = [json, missing, hidden, packed];
    let next = 0;
    const { metered, reports } = setUp(() => answers[next++]!);
    expect(await metered("https://host/config.json")).toBe(json);
    for (const answer of answers.slice(1)) expect(await metered("https://host/model.safetensors")).toBe(answer);
    expect(reports).toEqual([]);
  });
});

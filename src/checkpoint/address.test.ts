/** What of an address may stay, and what goes to its server alone. */
import { describe, expect, it } from "vitest";
import { fetchFrom, parseAddress } from "./address";

describe("parseAddress", () => {
  it.each([
    ["https://a.example/models/x", { url: "https://a.example/models/x" }],
    [" http://localhost:1/ ", { url: "http://localhost:1/" }],
    ["https://a.example/x/?token=s3cret&v=2#frag", { url: "https://a.example/x/", query: "token=s3cret&v=2" }],
    ["https://a.example/x?#", { url: "https://a.example/x" }],
    ["https://me:p%40ss@a.example/x/", { url: "https://a.example/x/", authorization: `Basic ${btoa("me:p@ss")}` }],
    ["https://hf_token@a.example/", { url: "https://a.example/", authorization: `Basic ${btoa("hf_token:")}` }],
    ["https://ö:%@a.example/", { url: "https://a.example/", authorization: `Basic ${btoa("\u00c3\u00b6:%")}` }],
    ["ftp://a.example/", undefined],
    ["me:pass@a.example/x", undefined],
    ["https://me:pass", undefined],
    ["models/x", undefined],
    ["", undefined],
  ])("%j", (typed, wanted) => expect(parseAddress(typed)).toEqual(wanted));
});

describe("fetchFrom", () => {
  it("adds query and credentials to each request, and keeps the other headers", async () => {
    const asked: [string, Record<string, string>][] = [];
    const fetchFile: typeof fetch = async (input, init) => {
      asked.push([String(input), Object.fromEntries(new Headers(init?.headers))]);
      return new Response("");
    };
    const address = parseAddress("https://me:secret@a.example/x/?sig=1%2F2");
    if (!address) throw new Error("no address");
    await fetchFrom(address, fetchFile)(`${address.url}config.json`, { headers: { Range: "bytes=0-0" } });
    expect(asked).toEqual([
      [
        "https://a.example/x/config.json?sig=1%2F2",
        { authorization: `Basic ${btoa("me:secret")}`, range: "bytes=0-0" },
      ],
    ]);
    expect(fetchFrom({ url: address.url }, fetchFile)).toBe(fetchFile);
  });
});

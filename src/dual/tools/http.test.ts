/** Every way in which a site can fail, from a real server on this machine. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { getJson, HttpFailure, type HttpSettings, retryAfterMs } from "./http";
import { NetworkSwitch } from "./network";
import { type Answer, hasty, type TestServer, testServer } from "./nodeTestServer";

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

const schema = z.object({ name: z.string() });
const get = (settings: Partial<HttpSettings> = {}, signal?: AbortSignal) =>
  getJson({ url: new URL("/x?q=1", server.url), site: "Atlas", schema }, { ...hasty(), ...settings }, signal);
const good: Answer = { body: { name: "Oder", more: 1 } };
/** Answers in turn, the last one for ever. */
const answers = (...list: Answer[]) => server.answer(({ count }) => list[Math.min(count, list.length - 1)] as Answer);

describe("getJson", () => {
  it("gives what the schema knows of an answer, and sends what it was told to", async () => {
    answers(good);
    expect(await get({ headers: { "x-program": "lab" } })).toEqual({ name: "Oder" });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.headers).toMatchObject({ accept: "application/json", "x-program": "lab" });
    for (const name of ["cookie", "referer", "authorization"])
      expect(server.requests[0]?.headers).not.toHaveProperty(name);
  });

  it.each([429, 500, 502, 503, 504, 408])("tries again after status %i", async (status) => {
    answers({ status, body: "<h1>busy</h1>" }, { status }, good);
    expect(await get()).toEqual({ name: "Oder" });
    expect(server.requests).toHaveLength(3);
  });

  it("waits longer before each repetition", async () => {
    answers({ status: 503 }, { status: 503 }, good);
    await get({ backoffMs: 60 });
    const [first, second, third] = server.requests.map(({ at }) => at) as [number, number, number];
    expect(second - first).toBeGreaterThanOrEqual(58);
    expect(third - second).toBeGreaterThanOrEqual(118);
  });

  it("waits as long as the site asks", async () => {
    answers({ status: 429, headers: { "retry-after": "1" } }, good);
    await get({ backoffMs: 1 });
    const [first, second] = server.requests.map(({ at }) => at) as [number, number];
    expect(second - first).toBeGreaterThanOrEqual(980);
  });

  it("gives up at once when the site asks for more time than there is", async () => {
    answers({
      status: 429,
      headers: { "retry-after": "3600" },
      body: { error: "Rate limit exceeded", message: "Daily limit." },
    });
    await expect(get()).rejects.toThrow(
      "Atlas says that there were too many requests: Rate limit exceeded, Daily limit. It asks to wait 3600 s, which is " +
        "too long; go on without it.",
    );
    expect(server.requests).toHaveLength(1);
  });

  it("gives up after so many attempts", async () => {
    answers({ status: 503, body: { message: "Down for repairs." } });
    await expect(get({ attempts: 2 })).rejects.toThrow("Atlas refused with status 503: Down for repairs.");
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    [
      400,
      { error: "Invalid", message: "Unknown field: x" },
      "Atlas refused with status 400: Invalid, Unknown field: x.",
    ],
    [401, {}, "Atlas refused with status 401."],
    [403, "<html>forbidden</html>", "Atlas refused with status 403."],
    [404, { message: { text: "no" } }, "Atlas refused with status 404."],
    [404, "null", "Atlas refused with status 404."],
  ])("does not try again after status %i", async (status, body, message) => {
    answers({ status, body });
    await expect(get()).rejects.toThrow(message);
    expect(server.requests).toHaveLength(1);
  });

  it("cuts a site's long complaint", async () => {
    answers({ status: 400, body: { message: "long ".repeat(1_000) } });
    const message = await get().then(
      () => "",
      (error: Error) => error.message,
    );
    expect(message).toMatch(/^Atlas refused with status 400: long /);
    expect(message.length).toBeLessThan(260);
  });

  it.each([
    ["a page", { body: "<html>Sign in</html>" }, "Atlas answered with something that is no JSON."],
    ["half an object", { body: '{"name": "O' }, "no JSON"],
    ["nothing", { body: "" }, "no JSON"],
    ["another shape", { body: { name: 7 } }, "Atlas answered in an unknown form (name: "],
    ["a list", { body: [] }, "Atlas answered in an unknown form (the answer: "],
  ])("names an answer that is %s", async (_, answer, message) => {
    answers(answer);
    await expect(get()).rejects.toThrow(message);
    expect(server.requests).toHaveLength(1);
  });

  it("reads no more than its limit", async () => {
    answers({ body: { name: "x".repeat(100_000) } });
    await expect(get({ maxBytes: 50_000 })).rejects.toThrow("Atlas answered with more than 50000 bytes.");
    answers({ body: { name: "é".repeat(1_000) } });
    expect(await get({ maxBytes: 3_000 })).toEqual({ name: "é".repeat(1_000) });
  });

  it("stops waiting for a site that does not answer, and tries again", async () => {
    answers({ delay: "never" }, good);
    expect(await get({ timeoutMs: 100 })).toEqual({ name: "Oder" });
    answers({ delay: "never" });
    await expect(get({ timeoutMs: 100, attempts: 1 })).rejects.toThrow("Atlas did not answer within 0.1 s.");
    await expect(get({ timeoutMs: 400, totalMs: 500, backoffMs: 50 })).rejects.toThrow(/^Atlas did not answer within/);
    expect(server.requests.length).toBeLessThanOrEqual(4);
  });

  it("tries again when the connection breaks, and says when there is none", async () => {
    answers({ body: '{"name"', delay: "cut" }, good);
    expect(await get()).toEqual({ name: "Oder" });
    const nobody = { url: new URL("http://127.0.0.1:1/"), site: "Nobody", schema };
    await expect(getJson(nobody, hasty())).rejects.toThrow("Nobody could not be reached.");
  });

  it("lets a site report failures in answers of status 200", async () => {
    answers({ body: { name: "busy" } }, good);
    const failureOf = ({ name }: { name: string }) =>
      name === "busy" ? new HttpFailure("Atlas is busy.", true) : undefined;
    const request = { url: new URL(server.url), site: "Atlas", schema, failureOf };
    expect(await getJson(request, hasty())).toEqual({ name: "Oder" });
  });

  it("ends with the reason of an abort: before, while it waits for the site, and between attempts", async () => {
    const reason = new Error("stopped");
    answers({ delay: "never" });
    await expect(get({}, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(server.requests).toHaveLength(0);
    // What is under way when it is aborted has reached the server.
    const whenAsked = (act: () => void, answer: Answer) =>
      server.answer(() => {
        setTimeout(act, 20);
        return answer;
      });
    const during = new AbortController();
    whenAsked(() => during.abort(reason), { delay: "never" });
    await expect(get({}, during.signal)).rejects.toBe(reason);
    const between = new AbortController();
    whenAsked(() => between.abort(reason), { status: 503 });
    await expect(get({ backoffMs: 2_000 }, between.signal)).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});

describe("NetworkSwitch", () => {
  it("is off until it is switched on: nothing is sent", async () => {
    answers(good);
    const network = new NetworkSwitch();
    await expect(get({ network })).rejects.toThrow("The use of the network is switched off.");
    expect([network.allowed, server.requests.length]).toEqual([false, 0]);
    network.allow();
    network.allow();
    expect(await get({ network })).toEqual({ name: "Oder" });
    expect(network.allowed).toBe(true);
  });

  it("ends what is under way when it is switched off, and works again when it is switched on", async () => {
    const network = new NetworkSwitch(true);
    server.answer(() => {
      setTimeout(() => network.forbid(), 20);
      return { delay: "never" };
    });
    await expect(get({ network })).rejects.toThrow("The use of the network was switched off.");
    await expect(get({ network })).rejects.toThrow("The use of the network is switched off.");
    network.forbid();
    network.allow();
    answers(good);
    expect(await get({ network })).toEqual({ name: "Oder" });
  });
});

describe("retryAfterMs", () => {
  it("reads seconds and dates", () => {
    const now = Date.parse("Wed, 21 Oct 2015 07:28:00 GMT");
    expect(retryAfterMs("120", now)).toBe(120_000);
    expect(retryAfterMs("Wed, 21 Oct 2015 07:28:30 GMT", now)).toBe(30_000);
    expect(retryAfterMs("Wed, 21 Oct 2015 07:00:00 GMT", now)).toBe(0);
    for (const value of [null, "soon", "", "-5x"]) expect(retryAfterMs(value, now)).toBeUndefined();
  });
});

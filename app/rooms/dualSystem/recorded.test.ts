/** The shipped runs: each is the run of its address, by the weights that are shipped, and tells what the tour says. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeWorld } from "../../../src/index";
import { parseDualTrace } from "../../engine/dualTrace";
import { foldEvents } from "../../engine/runView";
import { RECORDED_RUNS, recordedFile } from "./recorded";
import { questionOf, runKey, searchSchema, toRequest } from "./search";

const read = (file: string) => parseDualTrace(readFileSync(`public/${file}`, "utf8"));

test.each(RECORDED_RUNS)("$file is the run that its settings describe", ({ file, search: changes }) => {
  const search = searchSchema.parse(changes);
  const trace = read(file);
  expect(runKey(searchSchema.parse(trace.search))).toBe(runKey(search));
  expect(recordedFile(searchSchema.parse(trace.search))).toBe(file);
  const request = toRequest(search, questionOf(search, makeWorld(search.world).questions)!);
  const view = foldEvents(undefined, trace.events)!;
  expect(view).toMatchObject({ question: request.question, gold: request.gold, model: request.model });
  const { useSystem1, maxTurns, searchResults, temperature, seed } = request;
  expect(view.settings).toMatchObject({ useSystem1, maxTurns, searchResults, temperature, seed });
  // A run by other weights would be another run: record it anew with `node scripts/recordTraces.mjs`.
  const weights = readFileSync(`public/models/${request.model}/model.safetensors`);
  expect(trace.weights).toBe(createHash("sha256").update(weights).digest("hex"));
});

test("with System 1 the question is answered, in less context than without", () => {
  const [both, alone] = RECORDED_RUNS.map(({ file }) => foldEvents(undefined, read(file).events)!);
  expect(both!.turns.at(-1)!.answer!.correct).toBe(true);
  expect(alone!.settings.useSystem1).toBe(false);
  expect(alone!.turns.at(-1)!.answer?.correct).not.toBe(true);
  expect(both!.ledger.system2ContextTokens).toBeLessThan(alone!.ledger.system2ContextTokens / 2);
});

test("any other run is not taken for a recorded one", () => {
  for (const changes of [{ seed: 1 }, { world: 8 }, { q: "Who?" }, { results: 4 }, { item: 7 }]) {
    expect(recordedFile(searchSchema.parse(changes))).toBeUndefined();
  }
});

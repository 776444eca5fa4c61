/** Parts of a context: they add up to the ledger's figure, for both shipped runs. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseDualTrace } from "../../engine/dualTrace";
import { foldEvents } from "../../engine/runView";
import { contextParts } from "./duel";
import { RECORDED_RUNS } from "./recorded";

test.each(RECORDED_RUNS)("$file", ({ file }) => {
  const view = foldEvents(undefined, parseDualTrace(readFileSync(`public/${file}`, "utf8")).events)!;
  const parts = contextParts(view);
  expect(parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(view.ledger.system2ContextTokens);
  expect(parts[0]).toEqual({ kind: "question", tokens: view.turns[0]!.promptTokens, turn: 0 });
  const read = parts.find(({ kind }) => kind === (view.settings.useSystem1 ? "refined" : "raw"))!;
  // With a few tokens of the chat's format around it.
  expect(read.tokens).toBeGreaterThanOrEqual(view.turns[0]!.refined!.tokens);
  expect(read.tokens).toBeLessThan(view.turns[0]!.refined!.tokens + 30);
});

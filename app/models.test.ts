/** The shipped agents' folders hold what the page asks for, and nothing that loading would read besides. */
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { SELF_TEST_FILE } from "../src/worker/loadProtocol";
import { RELAY_MODELS, RESEARCH_AGENT, SELF_TEST_AGENT, SHIPPED_FILES } from "./models";

it.each([RESEARCH_AGENT, ...RELAY_MODELS])(
  "%s: no file is asked for that is not there, and none is overlooked",
  (id) => {
    const found = readdirSync(new URL(`../public/models/${id}`, import.meta.url)).filter(
      (file) => !file.endsWith(".md"),
    );
    expect(found.sort()).toEqual([...SHIPPED_FILES, ...(id === SELF_TEST_AGENT ? [SELF_TEST_FILE] : [])].sort());
  },
);

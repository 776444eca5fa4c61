/** The loop with the tokenizer and chat template of a real Qwen3: what the systems read is Qwen's own format. */
import { beforeAll, describe, expect, it } from "vitest";
import { qwen3TokenizerSource } from "../../tests/fixtures/qwen3Tokenizer";
import { loadTokenizerFrom } from "../text/loadTokenizer";
import type { ModelTokenizer } from "../text/tokenizer";
import { makeWorld } from "../world/world";
import { research } from "./loop";
import { SYSTEM1_INSTRUCTION, SYSTEM2_INSTRUCTION } from "./prompts";
import { scriptedModel } from "./scriptedModel";
import { formatDocuments, refine, truncateDocument } from "./system1";
import { SEARCH_FUNCTION, searchTool } from "./tools/search";

let tokenizer: ModelTokenizer;
beforeAll(async () => {
  tokenizer = await loadTokenizerFrom(qwen3TokenizerSource());
}, 60_000);

const { documents, questions } = makeWorld(5, { questions: 1 });
const subject = questions[0]?.chain[0]?.subject as string;
const call = `<think>\nFirst the start.\n</think>\n\n<tool_call>\n{"name": "search", "arguments": {"query": "${subject}", "purpose": "who"}}\n</tool_call>`;

describe("the loop on Qwen3's template", () => {
  it("renders tools, thoughts and tool responses as Qwen3 was trained to read them", async () => {
    const model = scriptedModel(
      (prompt, batch) => (prompt.includes(SYSTEM1_INSTRUCTION) ? "[1] A quote." : batch === 0 ? call : "Done."),
      { tokenizer },
    );
    const question = questions[0]?.text as string;
    const { reason, answer, turns, ledger } = await research(question, {
      system2: model,
      tools: [searchTool(documents)],
      corpus: "world",
    });
    expect([reason, answer]).toEqual(["answer", "Done."]);
    const [first, second] = [model.batches[0]?.[0], model.batches[2]?.[0]] as [string, string];
    expect(first).toContain(`<|im_start|>system\n${SYSTEM2_INSTRUCTION}`);
    expect(first).toContain(JSON.stringify(SEARCH_FUNCTION.name));
    expect(first.endsWith(`<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`)).toBe(true);
    const response = turns[0]?.refined;
    expect(second).toBe(
      `${first}${call}<|im_end|>\n<|im_start|>user\n<tool_response>\n${response}\n</tool_response><|im_end|>\n<|im_start|>assistant\n`,
    );
    for (const prompt of model.batches[1] ?? []) {
      expect(prompt).toContain(`<|im_start|>system\n${SYSTEM1_INSTRUCTION}<|im_end|>\n<|im_start|>user\nDocuments:\n[`);
      expect(prompt.endsWith("Purpose: who<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n")).toBe(true);
    }
    expect(ledger.system1Calls).toBe(model.batches[1]?.length);
  });

  it("keeps every System 1 prompt within its budget", async () => {
    for (const promptBudget of [150, 256, 512]) {
      const model = scriptedModel(() => "x", { tokenizer });
      const formatted = formatDocuments(documents.slice(0, 40), tokenizer);
      const { bins, packing } = await refine(
        formatted,
        "the birthplace of somebody",
        { model, promptBudget },
        {
          turn: 1,
          now: () => 0,
        },
      );
      for (const [bin, { promptTokens }] of bins.entries()) {
        expect(promptTokens).toBeLessThanOrEqual(promptBudget);
        // And what the bin counts as used is what its documents take.
        const overhead = promptBudget - packing.capacity;
        if (!packing.truncated.includes(packing.bins[bin]?.items[0] as number)) {
          expect(promptTokens - overhead).toBe(packing.bins[bin]?.used);
        }
      }
    }
  });

  it("cuts documents within the capacity, also inside characters of several tokens", () => {
    const text = `[1] 長い文書 🦊\n${"Zażółć gęślą jaźń 🧭🪐 ".repeat(20)}\n`;
    for (let capacity = 1; capacity < 120; capacity++) {
      const cut = truncateDocument(text, capacity, tokenizer);
      expect(tokenizer.countTokens(cut)).toBeLessThanOrEqual(capacity);
      expect(cut).not.toContain("\uFFFD");
      expect(text.startsWith(cut.trimEnd())).toBe(true);
    }
  });
});

/**
 * Whether a device computes what it should: an agent writes a few tokens whose right values are known, from the plain
 * reference in f64 (pretrain/selfTest.ts). Drivers that compile shaders wrongly are found so, before anybody reads
 * their answers.
 */
import { z } from "zod";
import { CheckpointError } from "../checkpoint/errors";
import { type ModelOrigin, SELF_TEST_FILE } from "./loadProtocol";
import type { LoadHooks, OpenDevice } from "./modelDesk";
import { modelFiles } from "./modelFiles";
import { EngineError, problemOf } from "./problems";

const ids = z.array(z.int().nonnegative()).min(1);
export const selfTestSchema = z.object({
  /** Token ids of prompts, read side by side. */
  prompts: z.array(ids).min(1),
  /** What greedy decoding adds to each; end tokens do not come up. */
  tokens: z.array(ids).min(1),
});
export type SelfTest = z.infer<typeof selfTestSchema>;

/** A device that needs longer is of no use. */
const LIMIT_MS = 60_000;

/**
 * @throws EngineError "selfTestFailed" when the tokens differ, the device refuses a command, or takes too long;
 * CheckpointError for the agent's files; what else `problemOf` has a kind for; the signal's reason after an abort
 */
export async function runSelfTest(device: OpenDevice, origin: ModelOrigin, hooks: LoadHooks): Promise<void> {
  const test = await readSelfTest(origin, hooks);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new AbortController();
  // A device that hangs answers nothing, not even an abort.
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new EngineError("selfTestFailed", `the self-test took longer than ${LIMIT_MS / 1000} s`);
      limit.abort(error);
      reject(error);
    }, LIMIT_MS);
  });
  try {
    const signal = AbortSignal.any([hooks.signal, limit.signal]);
    await Promise.race([write(device, origin, test, { ...hooks, signal }), late]);
  } catch (error) {
    hooks.signal.throwIfAborted();
    const { kind, detail } = problemOf(error);
    if (kind !== "engineFailed") throw error;
    throw new EngineError("selfTestFailed", detail, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function write(device: OpenDevice, origin: ModelOrigin, test: SelfTest, hooks: LoadHooks): Promise<void> {
  const { model, dispose } = await device.load({ id: "self-test", origin }, hooks);
  try {
    const requests = test.prompts.map((prompt, i) => ({
      input: { ids: prompt },
      maxTokens: test.tokens[i]?.length ?? 0,
    }));
    const results = await model.generate(requests, { signal: hooks.signal });
    hooks.signal.throwIfAborted();
    results.forEach((result, i) => {
      const expected = test.tokens[i] as number[];
      if (result.ids.join() === expected.join()) return;
      const at = expected.findIndex((id, position) => result.ids[position] !== id);
      throw new EngineError(
        "selfTestFailed",
        `self-test, prompt ${i + 1}: token ${at + 1} is ${result.ids[at] ?? "missing"} instead of ${expected[at]}`,
      );
    });
  } finally {
    dispose();
  }
}

async function readSelfTest(origin: ModelOrigin, hooks: LoadHooks): Promise<SelfTest> {
  const { signal } = hooks;
  const files = await modelFiles(origin, "self-test", hooks);
  const bytes = await files.file(SELF_TEST_FILE, signal);
  if (!bytes) throw new CheckpointError(`self-test: ${SELF_TEST_FILE} is missing`);
  try {
    return selfTestSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (error) {
    throw new CheckpointError(`self-test: ${SELF_TEST_FILE}: ${(error as Error).message}`, { cause: error });
  }
}

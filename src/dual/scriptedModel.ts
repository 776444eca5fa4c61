/**
 * A language model for tests: it answers each prompt with what a script says, token by token. Its tokens are the bytes
 * of the text, so that every count can be checked by hand and half a character can occur.
 */
import type { ModelConfig } from "../checkpoint/config";
import type { GenerateOptions, GenerateRequest, GenerateResult, LanguageModel } from "../model/languageModel";
import type { ChatMessage, ModelTokenizer } from "../text/tokenizer";

/** What the model writes; an Error is thrown as an engine would. */
export type Script = (prompt: string, batch: number) => string | Error;

export interface ScriptedModel extends LanguageModel {
  /** The prompts of every call of generate. */
  readonly batches: string[][];
  readonly requests: GenerateRequest[];
}

const bytes = new TextEncoder();

export const byteTokenizer: ModelTokenizer = {
  vocabSize: 256,
  encode: (text) => [...bytes.encode(text)],
  decode: (ids) => new TextDecoder().decode(Uint8Array.from(ids)),
  countTokens: (text) => bytes.encode(text).length,
  /** `<role>content` lines; tools and the switch for thinking are shown so that tests can see them. */
  renderChat(messages: readonly ChatMessage[], { tools = [], enableThinking = true, addGenerationPrompt = true } = {}) {
    const head = tools.length > 0 ? `[${tools.map(({ name }) => name).join()}]\n` : "";
    const body = messages.map(({ role, content }) => `<${role}>${content}\n`).join("");
    return head + body + (addGenerationPrompt ? `<assistant>${enableThinking ? "" : "<think></think>"}` : "");
  },
  detokenizer() {
    const decoder = new TextDecoder();
    return { push: (id) => decoder.decode(Uint8Array.of(id), { stream: true }), flush: () => decoder.decode() };
  },
};

export function scriptedModel(
  script: Script,
  settings: { id?: string; maxPositions?: number; tokenizer?: ModelTokenizer } = {},
): ScriptedModel {
  const { id = "scripted", maxPositions = 10_000, tokenizer = byteTokenizer } = settings;
  const batches: string[][] = [];
  const allRequests: GenerateRequest[] = [];
  const unable = () => Promise.reject(new Error(`${id} can only generate`));

  async function generate(
    requests: readonly GenerateRequest[],
    options: GenerateOptions = {},
  ): Promise<GenerateResult[]> {
    const prompts = requests.map(({ input }) => ("ids" in input ? tokenizer.decode(input.ids) : ""));
    batches.push(prompts);
    allRequests.push(...requests);
    const replies = prompts.map((prompt) => {
      const reply = script(prompt, batches.length - 1);
      if (reply instanceof Error) throw reply;
      return tokenizer.encode(reply);
    });
    const written = replies.map((): number[] => []);
    const detokenizers = replies.map(() => tokenizer.detokenizer());
    const isDone = (i: number) => written[i]!.length >= Math.min(replies[i]!.length, requests[i]!.maxTokens);
    while (!replies.every((_, i) => isDone(i))) {
      await Promise.resolve();
      if (options.signal?.aborted) break;
      for (const [i, reply] of replies.entries()) {
        if (isDone(i)) continue;
        const token = reply[written[i]!.length] as number;
        written[i]!.push(token);
        options.onToken?.({ request: i, id: token, text: detokenizers[i]!.push(token) });
      }
    }
    return written.map((ids, i) => ({
      ids,
      text: tokenizer.decode(ids),
      finishReason: !isDone(i) ? "aborted" : ids.length < replies[i]!.length ? "length" : "stop",
      promptTokens: tokenizer.countTokens(prompts[i]!),
    }));
  }

  return {
    id,
    batches,
    requests: allRequests,
    tokenizer,
    config: { maxPositions, vocabSize: tokenizer.vocabSize } as ModelConfig,
    capabilities: { embeddingsIn: false, hiddenStates: false },
    liveBytes: 0,
    embed: unable,
    forward: unable,
    read: unable,
    generate,
    dispose() {},
  };
}

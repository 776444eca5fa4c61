/** What a recursion has spent so far: tokens, latent steps, multiply-adds and time, summed over the questions. */
import type { ResearchResult } from "../dual/loop";
import type { LanguageModel } from "../model/languageModel";
import type { RecursionLedger } from "../trace/recursionEvents";
import type { Agent } from "./agent";
import { bodyMultiplyAdds, headMultiplyAdds } from "./cost";
import type { SlottedPrompts } from "./slottedPrompts";

/** What an agent wrote for one question. */
export interface Written {
  text: string;
  /** The end token included. */
  tokens: number;
}

export class LedgerMeter {
  private readonly sums = { promptTokens: 0, textTokens: 0, latentSteps: 0, body: 0, head: 0, link: 0, ms: 0 };
  /** Prompts whose beginnings have been charged: they are the same in every round, and read once. */
  private readonly begun = new Set<SlottedPrompts>();

  constructor(private readonly now: () => number) {}

  /** Counts the time that `task` takes. */
  async timed<T>(task: () => Promise<T>): Promise<T> {
    const start = this.now();
    try {
      return await task();
    } finally {
      this.sums.ms += this.now() - start;
    }
  }

  /** An agent read its prompts. @param lengths tokens and vectors of each */
  read({ model }: Agent, prompts: SlottedPrompts, lengths: readonly number[]): void {
    const { config } = model.language;
    const isBegun = this.begun.has(prompts);
    this.begun.add(prompts);
    lengths.forEach((length, question) => {
      this.sums.promptTokens += length;
      this.sums.body += bodyMultiplyAdds(config, isBegun ? prompts.beginning(question).length : 0, length);
    });
  }

  /** One latent step of all questions; the first follows from the prompt itself. */
  thought({ model, innerLink }: Agent, lengths: readonly number[], step: number): void {
    for (const length of lengths) {
      this.sums.latentSteps++;
      this.sums.link += innerLink.multiplyAdds;
      if (step > 0) this.sums.body += bodyMultiplyAdds(model.language.config, length + step - 1, length + step);
    }
  }

  /** A message went through an outer link. @param vectors of all questions */
  message(multiplyAdds: number, vectors: number): void {
    this.sums.link += multiplyAdds * vectors;
  }

  /** An agent wrote. @param lengths of the prompts */
  wrote({ model }: Agent, lengths: readonly number[], written: readonly Written[]): void {
    const { config } = model.language;
    written.forEach(({ tokens }, question) => {
      const length = lengths[question] as number;
      this.sums.textTokens += tokens;
      this.sums.head += tokens * headMultiplyAdds(config);
      // The last token is not read again.
      if (tokens > 1) this.sums.body += bodyMultiplyAdds(config, length, length + tokens - 1);
    });
  }

  /** The last agent answered in the dual-system loop; tokens are those of both systems, without end tokens. */
  researched({ model }: Agent, system1: LanguageModel, { answer = "", turns, ledger }: ResearchResult): Written {
    const count = ({ config }: LanguageModel, prompt: number, output: number) => {
      this.sums.promptTokens += prompt;
      this.sums.textTokens += output;
      this.sums.body += bodyMultiplyAdds(config, 0, prompt + output);
      this.sums.head += (output + 1) * headMultiplyAdds(config);
    };
    for (const { promptTokens, outputTokens, bins = [] } of turns) {
      count(model.language, promptTokens, outputTokens);
      for (const bin of bins) count(system1, bin.promptTokens, bin.outputTokens);
    }
    return { text: answer, tokens: ledger.system1OutputTokens + ledger.system2OutputTokens };
  }

  snapshot(): RecursionLedger {
    const { promptTokens, textTokens, latentSteps, body, head, link, ms } = this.sums;
    return { promptTokens, textTokens, latentSteps, multiplyAdds: { body, head, link }, ms };
  }

  /** Runs `look` and then forgets what it spent: what it would have cost is its result. */
  async aside<T>(look: () => Promise<T>): Promise<{ result: T; ledger: RecursionLedger }> {
    const before = { ...this.sums };
    const begun = new Set(this.begun);
    try {
      const result = await look();
      return { result, ledger: this.snapshot() };
    } finally {
      Object.assign(this.sums, before);
      for (const prompts of this.begun) if (!begun.has(prompts)) this.begun.delete(prompts);
    }
  }
}

/** `eval dual`: accuracy of the dual-system loop on many questions of a world, all of them at once. */
import { fitDocuments } from "../../corpus/passages";
import { type Accuracy, evaluateDual, type GroupAccuracy } from "../../dual/evaluate";
import type { ResearchResult } from "../../dual/loop";
import { passageSize } from "../../dual/tools/passageSize";
import { standardTools } from "../../dual/tools/standard";
import { makeWorld } from "../../world/world";
import { type CliContext, command } from "../command";
import { dualOptions, dualSettings, jsonFlag, MAX_SEED, samplingOptions } from "../modelOptions";
import { flag, integer, text } from "../options";
import { checkWritable, replaceFile } from "../output";
import { percent, seconds, table } from "../table";
import { ledgerTable } from "./research";

export const evalDualCommand = command({
  name: "eval dual",
  summary: "measures the two systems on many questions",
  examples: ["eval dual --n 300 --seed 42", "eval dual --n 300 --seed 42 --no-system1 --json"],
  options: {
    n: integer({ value: "N", min: 1, max: 100_000, required: true, help: "how many questions" }),
    seed: integer({ value: "S", min: 0, max: MAX_SEED, required: true, help: "of the world, and of sampling" }),
    ...dualOptions,
    ...samplingOptions,
    details: text({ value: "FILE", help: "write every run as a line of JSON" }),
    progress: flag("tell on standard error how far it is (a terminal is always told)"),
    json: jsonFlag,
  },
  async run(values, context) {
    const { n, seed, corpus, details } = values;
    if (details !== undefined) await checkWritable(details, "details");
    const world = makeWorld(seed, { corpus, questions: n });
    const { engine, weights } = values;
    const found = await context.models.find(values.model, { engine, weights });
    const settings = dualSettings(values, seed);
    const size = passageSize({ model: found, capacity: settings.capacity, maxTokens: settings.system1MaxTokens });
    const model = await found.load({ batched: true });
    const progress = reporter(n, context, values.progress);
    const lines = new Array<string>(n);
    const start = performance.now();
    const { overall, byHops, byKind, system1, tokens } = await evaluateDual(
      world.questions,
      {
        system2: model,
        tools: standardTools(fitDocuments(world.documents, size), context.python, values["search-results"]),
        corpus: `${corpus} ${seed}`,
        ...settings,
        streamTokens: false,
        onEvent: ({ type }) => type === "system2Message" && progress.turn(),
      },
      (index, result) => {
        progress.finished(result);
        lines[index] = JSON.stringify({ index, ...world.questions[index], ...result });
      },
    );
    const ms = performance.now() - start;
    progress.end();
    if (details !== undefined) await replaceFile(details, `${lines.join("\n")}\n`);
    if (values.json) {
      context.out(`${JSON.stringify({ n, seed, model: model.id, overall, byHops, byKind, system1, tokens, ms })}\n`);
      return;
    }
    const row = (name: string, { accuracy, ci95 }: Accuracy, count: number) => [
      name,
      count,
      percent(accuracy),
      ci95.map(percent).join(" to "),
    ];
    const rows = (groups: Record<string, GroupAccuracy>, name: (key: string) => string) =>
      Object.entries(groups).map(([key, group]) => row(name(key), group, group.n));
    const accuracies = [
      row("all", overall, n),
      ...rows(byHops, (hops) => `${hops} ${hops === "1" ? "hop" : "hops"}`),
      ...rows(byKind, (kind) => kind),
    ];
    const reading = [
      row("that hold the fact", system1.found, system1.found.n),
      row("that do not", system1.denied, system1.denied.n),
    ];
    context.out(`${model.id}, world ${seed}, ${seconds(ms)}\n\n`);
    context.out(`${table(["questions", "n", "right", "95% interval"], accuracies)}\n\n`);
    if (system1.found.n + system1.denied.n > 0) {
      context.out(`${table(["System 1's bins", "n", "right", "95% interval"], reading)}\n\n`);
    }
    context.out(`${ledgerTable(tokens)}\n`);
  },
});

/** Tells standard error how far the questions are: over one line on a terminal, every few seconds otherwise. */
function reporter(n: number, { err, errIsTerminal }: CliContext, wanted: boolean) {
  const interval = errIsTerminal ? 100 : 5_000;
  let turns = 0;
  let done = 0;
  let right = 0;
  let last = performance.now();
  const tell = (force = false) => {
    if (!errIsTerminal && !wanted) return;
    if (!force && performance.now() - last < interval) return;
    last = performance.now();
    const line = `${turns} turns, ${done} of ${n} finished, ${right} right`;
    err(errIsTerminal ? `\r${line}` : `${line}\n`);
  };
  return {
    turn() {
      turns++;
      tell();
    },
    finished({ correct }: ResearchResult) {
      done++;
      if (correct) right++;
      tell();
    },
    end() {
      tell(true);
      if (errIsTerminal) err("\n");
    },
  };
}

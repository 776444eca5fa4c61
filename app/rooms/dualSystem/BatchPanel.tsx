/** Many questions with the settings of the panel: progress, accuracy against the context used, and every answer. */
import { ActionIcon, Button, SegmentedControl } from "@mantine/core";
import { IconFile, IconPlayerPlayFilled, IconX } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import type { BatchQuestion } from "../../../src/index";
import { ErrorCard } from "../../components/ErrorCard";
import { ExportMenu } from "../../components/ExportMenu";
import { FilePicker } from "../../components/FilePicker";
import { Frame } from "../../components/Frame";
import { LineChart, type LinePoint } from "../../components/LineChart";
import { NumberField } from "../../components/SettingsGroup";
import { StartRow } from "../../components/StartRow";
import { TableTwin } from "../../components/TableTwin";
import { formatCount, formatDuration, formatPercent, formatPlural } from "../../format";
import { type Batch, type BatchSource, removeBatch, runBatch, stopBatch, useBatches } from "../../stores/batchStore";
import { strings } from "../../strings";
import classes from "./BatchPanel.module.css";
import { byContext, figuresOfBatch } from "./batchFigures";
import { parseQuestions } from "./questionFile";
import { type RoomSearch, shippedCorpus } from "./search";

const text = strings.dualSystem.batch;
const COUNTS = { min: 1, max: 500, step: 10 };
const COLORS = [
  "var(--system2)",
  "var(--system1-text)",
  "var(--tools-text)",
  "var(--held-out)",
  "var(--signed-low)",
  "var(--text-dim)",
];

interface BatchPanelProps {
  search: RoomSearch;
  /** Undefined while nothing can be started. */
  settings: Batch["settings"] | undefined;
}

export function BatchPanel({ search, settings }: BatchPanelProps) {
  const { phase, batches, problem } = useBatches();
  const generates = shippedCorpus(search) !== undefined;
  const [from, setFrom] = useState<"seed" | "file">("seed");
  const [count, setCount] = useState(20);
  const [file, setFile] = useState<{ name: string; questions: BatchQuestion[] }>();
  const [failure, setFailure] = useState<string>();
  const source = generates ? from : "file";
  const busy = phase !== "idle";
  const open = async (picked: File) => {
    try {
      setFile({ name: picked.name, questions: parseQuestions(await picked.text()) });
      setFailure(undefined);
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  const asked: BatchSource | undefined =
    source === "seed" ? { seed: search.world, count } : file && { file: file.name, questions: file.questions };
  const running = busy ? batches.at(-1) : undefined;
  return (
    <Frame title={text.title} hint={text.hint} tools={batches.length > 0 && <Save batches={batches} />}>
      <StartRow
        title={text.title}
        phase={phase}
        start={text.start}
        startIcon={<IconPlayerPlayFilled size={12} />}
        onStart={settings && asked && (() => void runBatch(settings, asked))}
        stop={text.stop}
        onStop={stopBatch}
        progress={running && { done: running.results.length, total: running.total }}
        progressWords={
          running
            ? text.progress(formatCount(running.results.length), formatCount(running.total))
            : strings.dualSystem.run.waiting
        }
        help={source === "seed" ? text.seedHelp(search.world) : text.fileHelp}
      >
        {generates && (
          <SegmentedControl
            size="xs"
            aria-label={text.source}
            value={from}
            disabled={busy}
            data={[
              { value: "seed", label: text.generated },
              { value: "file", label: text.file },
            ]}
            onChange={(value) => setFrom(value as typeof from)}
          />
        )}
        {source === "seed" ? (
          <NumberField
            label={text.count}
            help=""
            value={count}
            limits={COUNTS}
            disabled={busy}
            onChange={(next) => next !== undefined && setCount(next)}
          />
        ) : (
          <FilePicker accept=".jsonl,.ndjson,.json,application/jsonl" onFile={(picked) => void open(picked)}>
            {(choose) => (
              <Button size="xs" variant="default" disabled={busy} leftSection={<IconFile size={14} />} onClick={choose}>
                {file ? text.chosen(file.name, formatPlural(file.questions.length, "question")) : text.choose}
              </Button>
            )}
          </FilePicker>
        )}
      </StartRow>
      {failure && (
        <p className={classes.failure} role="alert">
          {text.failed} {failure}
        </p>
      )}
      {problem && <ErrorCard problem={problem} />}
      {batches.some(({ results }) => results.length > 0) ? (
        <Results batches={batches} />
      ) : (
        <p className={classes.help}>{text.empty}</p>
      )}
    </Frame>
  );
}

/** What sets a batch apart from a plain one. */
function nameOf({ settings, source }: Batch, number: number): string {
  const { useSystem1, capacity, parallel, packing, corpus } = settings;
  return [
    text.batch(number),
    "file" in source ? source.file : text.world(source.seed),
    !useSystem1 && strings.dualSystem.runs.alone,
    capacity !== undefined && useSystem1 && strings.dualSystem.runs.capacity(capacity),
    parallel !== undefined && strings.dualSystem.runs.parallel(parallel),
    packing !== undefined && strings.dualSystem.settings.packing.algorithms[packing],
    corpus !== undefined && strings.dualSystem.corpus.names[corpus],
  ]
    .filter((part) => part !== false)
    .join(" · ");
}

function Results({ batches }: { batches: readonly Batch[] }) {
  const { points, series } = useMemo(() => chartOf(batches), [batches]);
  return (
    <>
      <LineChart
        title={text.chart}
        name="twinloop-batches"
        xLabel={text.context}
        unit=" %"
        series={series}
        points={points}
        fromZero
        formatX={(x) => formatCount(Math.round(x))}
      />
      <p className={classes.help}>{text.chartHelp}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <section className={classes.scroller} tabIndex={0} aria-label={text.summary}>
        <table className={classes.table}>
          <thead>
            <tr>
              {text.columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
              <th>
                <span className={classes.hidden}>{text.remove}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {batches.map((batch, i) => (
              <Summary key={batch.id} batch={batch} name={nameOf(batch, i + 1)} color={COLORS[i % COLORS.length]!} />
            ))}
          </tbody>
        </table>
      </section>
      <TableTwin caption={text.answers} table={() => answerTable(batches)} />
    </>
  );
}

function Summary({ batch, name, color }: { batch: Batch; name: string; color: string }) {
  const { n, accuracy, ci95, f1, context, withoutSystem1, system1Calls, ms } = figuresOfBatch(batch.results);
  return (
    <tr>
      <th scope="row">
        <i className={classes.swatch} style={{ background: color }} /> {name}
      </th>
      <td>
        {batch.isOver && n === batch.total ? formatCount(n) : text.part(formatCount(n), formatCount(batch.total))}
      </td>
      <td>
        <b>{formatPercent(accuracy)}</b>{" "}
        <span className={classes.help}>{text.interval(formatPercent(ci95[0]), formatPercent(ci95[1]))}</span>
      </td>
      <td>{f1.toFixed(2)}</td>
      <td>{formatCount(context)}</td>
      <td>{formatCount(withoutSystem1)}</td>
      <td>{system1Calls.toFixed(1)}</td>
      <td>{formatDuration(ms)}</td>
      <td>
        <ActionIcon
          size={22}
          variant="subtle"
          color="gray"
          disabled={!batch.isOver}
          aria-label={text.removeBatch(name)}
          title={text.removeBatch(name)}
          onClick={() => removeBatch(batch.id)}
        >
          <IconX size={13} />
        </ActionIcon>
      </td>
    </tr>
  );
}

/** One line a batch: per cent of right answers over the context of its groups of questions. */
function chartOf(batches: readonly Batch[]) {
  const series = batches.map((batch, i) => ({
    key: `batch${batch.id}`,
    label: nameOf(batch, i + 1),
    color: COLORS[i % COLORS.length]!,
    dots: true,
    joined: true,
  }));
  const points = batches.flatMap((batch, i) =>
    byContext(batch.results).map(
      ({ context, accuracy }): LinePoint => ({ x: context, [series[i]!.key]: 100 * accuracy }),
    ),
  );
  return { series, points: points.sort((a, b) => a.x - b.x) };
}

function answerTable(batches: readonly Batch[]) {
  return {
    head: text.answerColumns,
    rows: batches.flatMap((batch, i) =>
      [...batch.results]
        .sort((a, b) => a.index - b.index)
        .map(({ index, question, gold, answer = "", reason, correct, f1, turns, ms, ledger }) => [
          `${i + 1}.${index + 1}`,
          question,
          gold.join(" | "),
          answer,
          reason,
          correct ? 1 : 0,
          Number(f1.toFixed(4)),
          turns,
          Math.round(ms),
          ledger.system2ContextTokens,
          ledger.system2ContextWithoutSystem1,
          ledger.system1Calls,
        ]),
    ),
  };
}

function Save({ batches }: { batches: readonly Batch[] }) {
  return (
    <ExportMenu
      name="twinloop-batch"
      title={text.title}
      table={() => answerTable(batches)}
      json={() => ({
        batches: batches.map(({ source, settings, total, results }) => ({
          source,
          // The visitor's key stays in the tab.
          settings: { ...settings, network: undefined },
          total,
          figures: figuresOfBatch(results),
          results,
        })),
      })}
    />
  );
}

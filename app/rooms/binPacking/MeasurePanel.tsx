/** The packings really read by System 1: calls, tokens and milliseconds on this device, with the number of readings. */
import { IconStopwatch } from "@tabler/icons-react";
import { useState } from "react";
import type { PackingAlgorithm, PackingMeasurement } from "../../../src/index";
import { BusyElsewhere } from "../../components/BusyElsewhere";
import { ErrorCard } from "../../components/ErrorCard";
import { ExportMenu } from "../../components/ExportMenu";
import { Frame } from "../../components/Frame";
import { NumberField } from "../../components/SettingsGroup";
import { StartRow } from "../../components/StartRow";
import { formatCount, formatDuration } from "../../format";
import { RESEARCH_AGENT } from "../../models";
import { isHopeless, useEngine } from "../../stores/engineStore";
import { useJob } from "../../stores/jobStore";
import { measurePackings, stopMeasuring, useMeasure } from "../../stores/measureStore";
import { strings } from "../../strings";
import { nameOf } from "./Figures";
import classes from "./MeasurePanel.module.css";
import { NumberTable } from "./NumberTable";

const text = strings.binPacking.measure;
const REPETITIONS = { min: 1, max: 20, step: 1 };
const AT_ONCE = { min: 1, max: 32, step: 1 };

interface MeasurePanelProps {
  lengths: readonly number[];
  capacity: number;
  algorithms: readonly PackingAlgorithm[];
}

export function MeasurePanel({ lengths, capacity, algorithms }: MeasurePanelProps) {
  const { phase, request, rows, device, progress, most, problem } = useMeasure();
  const [repetitions, setRepetitions] = useState(3);
  const [parallel, setParallel] = useState<number>();
  const taken = useJob(({ job }) => job !== undefined && job !== "measurement");
  const hopeless = useEngine(isHopeless);
  const busy = phase !== "idle";
  const wanted = {
    ...{ model: RESEARCH_AGENT, lengths: [...lengths], capacity, algorithms: [...algorithms], repetitions },
    ...(parallel !== undefined && { parallel }),
  };
  const changed = request !== undefined && JSON.stringify(request) !== JSON.stringify(wanted);
  const table = () => tableOf(rows ?? []);
  return (
    <Frame
      title={text.title}
      hint={text.hint}
      tools={
        rows && (
          <ExportMenu
            name="packing-measured"
            title={text.title}
            table={table}
            json={() => ({ device, ...request, rows })}
          />
        )
      }
    >
      <StartRow
        title={text.title}
        phase={phase}
        start={text.start}
        startIcon={<IconStopwatch size={14} />}
        onStart={taken || hopeless ? undefined : () => void measurePackings(wanted)}
        stop={text.cancel}
        onStop={stopMeasuring}
        progress={progress}
        progressWords={progress ? text.progress(formatCount(progress.done), formatCount(progress.total)) : text.waiting}
      >
        <NumberField
          label={text.repetitions}
          help=""
          value={repetitions}
          limits={REPETITIONS}
          disabled={busy}
          onChange={(next) => next !== undefined && setRepetitions(next)}
        />
        <NumberField
          label={text.parallel}
          help=""
          value={parallel}
          limits={AT_ONCE}
          emptyMeans={text.all}
          disabled={busy}
          onChange={setParallel}
        />
      </StartRow>
      <BusyElsewhere own="measurement" />
      {problem && <ErrorCard problem={problem} />}
      {most !== undefined && (
        <p className={classes.note} role="alert">
          {text.tooLarge(formatCount(request?.capacity ?? capacity), formatCount(most))}
        </p>
      )}
      {rows && request ? (
        <>
          <NumberTable caption={text.table} head={text.columns} rows={rows.map(rowOf(rows))} />
          <p className={classes.note}>
            {text.measured(
              formatCount(request.lengths.length),
              formatCount(request.capacity),
              formatCount(request.repetitions),
              device ?? "",
            )}
            {changed && !busy && ` ${text.changed}`}
          </p>
        </>
      ) : (
        !busy && most === undefined && !problem && <p className={classes.note}>{text.empty}</p>
      )}
    </Frame>
  );
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** As bars to one scale, with the fastest and the slowest reading. */
function rowOf(rows: readonly PackingMeasurement[]) {
  const slowest = Math.max(1, ...rows.map(({ ms }) => mean(ms)));
  return ({ algorithm, calls, batches, promptTokens, outputTokens, ms }: PackingMeasurement) => ({
    key: algorithm,
    cells: [
      nameOf(algorithm),
      ...[calls, batches, promptTokens, outputTokens].map(formatCount),
      formatDuration(mean(ms)),
      text.spread(formatDuration(Math.min(...ms)), formatDuration(Math.max(...ms))),
      <span key="bar" className={classes.track}>
        <span className={classes.fill} style={{ width: `${(100 * mean(ms)) / slowest}%` }} />
      </span>,
    ],
  });
}

function tableOf(rows: readonly PackingMeasurement[]) {
  return {
    head: text.csv,
    rows: rows.flatMap(({ algorithm, calls, batches, promptTokens, outputTokens, ms }) =>
      ms.map((time, i) => [
        nameOf(algorithm),
        i + 1,
        calls,
        batches,
        promptTokens,
        outputTokens,
        Number(time.toFixed(1)),
      ]),
    ),
  };
}

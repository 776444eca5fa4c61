/** How a stage went: losses, gradients, learning rate, and how right it is on held-out questions. */
import { SegmentedControl, useComputedColorScheme } from "@mantine/core";
import { useMemo } from "react";
import type { TrainingStage } from "../../../src/index";
import { agentColor } from "../../components/agentColor";
import { Frame } from "../../components/Frame";
import { LabOnly } from "../../components/LabOnly";
import { LineChart, type LinePoint, type LineSeries } from "../../components/LineChart";
import type { StageView } from "../../engine/trainingView";
import { RELAY_RING } from "../../models";
import { strings } from "../../strings";
import classes from "./Curves.module.css";

const text = strings.linkTraining.charts;

interface CurvesProps {
  stages: Readonly<Partial<Record<TrainingStage, StageView>>>;
  stage: TrainingStage;
  onStage: (stage: TrainingStage) => void;
}

export function Curves({ stages, stage, onStage }: CurvesProps) {
  const view = stages[stage];
  const both = stages.inner && stages.outer;
  return (
    <Frame
      title={text.title}
      hint={text.hint}
      tools={
        both && (
          <SegmentedControl
            size="xs"
            aria-label={text.stage}
            data={(["inner", "outer"] as const).map((value) => ({
              value,
              label: strings.linkTraining.settings.stages[value],
            }))}
            value={stage}
            onChange={(value) => onStage(value as TrainingStage)}
          />
        )
      }
    >
      {view && <Charts view={view} />}
    </Frame>
  );
}

function Charts({ view }: { view: StageView }) {
  const { steps, validations, started } = view;
  const dark = useComputedColorScheme("light") === "dark";
  const { stage } = started;
  const shared = { xLabel: text.step, xStart: 0, xEnd: started.steps } as const;
  const clip = Number(started.settings.maxNorm ?? 0);
  const losses = useMemo(() => lossPoints(view), [view]);
  const accuracy = useMemo(() => accuracyOf(view), [view]);
  const links = useMemo((): LineSeries[] => started.trained.map((name) => linkSeries(name, dark)), [started, dark]);
  const byLink = useMemo(
    () =>
      steps.map(({ step, gradientNorm, linkGradientNorms }) => ({
        x: step,
        whole: gradientNorm,
        ...linkGradientNorms,
      })),
    [steps],
  );
  const rounds = useMemo(() => roundSeries(steps), [steps]);
  const byRound = useMemo(
    () =>
      steps.map(({ step, roundGradientNorms = [] }) =>
        Object.assign({ x: step }, ...roundGradientNorms.map((norm, i) => ({ [`round${i + 1}`]: norm }))),
      ) as LinePoint[],
    [steps],
  );
  const rates = useMemo(() => steps.map(({ step, learningRate }) => ({ x: step, rate: learningRate })), [steps]);
  const cosines = useMemo(() => steps.map(({ step, cosine }) => ({ x: step, cosine })), [steps]);
  return (
    <div className={classes.charts}>
      <LineChart title={text.loss} name={`${stage}-loss`} series={LOSS} points={losses} {...shared} />
      <LabOnly>
        <LineChart
          title={text.gradient}
          name={`${stage}-gradient-norm`}
          series={WHOLE}
          points={byLink}
          log
          line={clip > 0 ? { y: clip, label: text.clip(String(clip)) } : undefined}
          {...shared}
        />
        <LineChart
          title={text.perLink}
          name={`${stage}-link-gradients`}
          series={links}
          points={byLink}
          log
          {...shared}
        />
        {rounds.length > 0 && (
          <LineChart title={text.perRound} name="round-gradients" series={rounds} points={byRound} log {...shared} />
        )}
      </LabOnly>
      {stage === "inner" && (
        <LineChart title={text.cosine} name="cosine" series={COSINE} points={cosines} {...shared} />
      )}
      {validations.length > 0 && accuracy.series.length > 0 && (
        <LineChart
          title={text.accuracy}
          name={`${stage}-accuracy`}
          unit="%"
          series={accuracy.series}
          points={accuracy.points}
          fromZero
          {...shared}
        />
      )}
      <LabOnly>
        <LineChart
          title={text.rate}
          name={`${stage}-learning-rate`}
          series={RATE}
          points={rates}
          fromZero
          {...shared}
        />
      </LabOnly>
    </div>
  );
}

const LOSS: LineSeries[] = [
  { key: "train", label: text.train, color: "var(--text)" },
  { key: "held", label: text.held, color: "var(--held-out)", dots: true, joined: true },
];
const WHOLE: LineSeries[] = [{ key: "whole", label: text.whole, color: "var(--text)" }];
const RATE: LineSeries[] = [{ key: "rate", label: text.rate, color: "var(--text)" }];
const COSINE: LineSeries[] = [{ key: "cosine", label: text.cosine, color: "var(--text)" }];

/** Losses of steps and of looks; a look before the first step stands at step 0. */
function lossPoints({ steps, validations }: StageView): LinePoint[] {
  const points = new Map<number, LinePoint>();
  for (const { step, loss } of validations) points.set(step, { x: step, held: loss });
  for (const { step, loss } of steps) points.set(step, { x: step, train: loss, held: points.get(step)?.held });
  return [...points.values()].sort((a, b) => a.x - b.x);
}

function accuracyOf({ validations, started }: StageView): { series: LineSeries[]; points: LinePoint[] } {
  const depths = [...new Set(validations.flatMap(({ byRounds = [] }) => byRounds.map(({ rounds }) => rounds)))].sort();
  if (started.stage === "inner" || depths.length === 0) {
    const points = validations.map(({ step, accuracy }) => ({ x: step, all: accuracy && 100 * accuracy }));
    const known = validations.some(({ accuracy }) => accuracy !== undefined);
    const label = started.stage === "inner" ? text.accuracyMessages : text.accuracy;
    return { series: known ? [{ key: "all", label, color: "var(--held-out)", dots: true, joined: true }] : [], points };
  }
  return {
    series: depths.map((rounds) => ({
      key: `r${rounds}`,
      label: text.accuracyOf(rounds),
      color: shade(rounds, depths.length),
      dots: true,
      joined: true,
    })),
    points: validations.map(({ step, byRounds = [] }) =>
      Object.assign({ x: step }, ...byRounds.map(({ rounds, accuracy }) => ({ [`r${rounds}`]: 100 * accuracy }))),
    ) as LinePoint[],
  };
}

/** Later rounds stand out more. */
const shade = (round: number, rounds: number) =>
  `color-mix(in srgb, var(--text) ${Math.round(40 + (60 * round) / Math.max(1, rounds))}%, var(--surface))`;

function roundSeries(steps: StageView["steps"]): LineSeries[] {
  const count = Math.max(0, ...steps.map(({ roundGradientNorms }) => roundGradientNorms?.length ?? 0));
  return Array.from({ length: count }, (_, i) => ({
    key: `round${i + 1}`,
    label: text.round(i + 1),
    color: shade(i + 1, count),
    joined: true,
  }));
}

/** A link has the colour of the agent whose thoughts go in; outer ones are dashed. */
function linkSeries(name: string, dark: boolean): LineSeries {
  const [kind, from, to] = name.split("/");
  const agent = Math.max(
    0,
    RELAY_RING.findIndex(({ id }) => id === from),
  );
  return {
    key: name,
    label: to === undefined ? `${from}` : `${from} → ${to}`,
    color: agentColor(agent, 1, dark),
    dashed: kind === "outer",
  };
}

/** Figures of the run as it goes. */
import { useInLab } from "../../components/depth";
import { Tiles } from "../../components/Tiles";
import { recentMean, type StageView, speedOf } from "../../engine/trainingView";
import { formatBytes, formatCount, formatDuration } from "../../format";
import { strings } from "../../strings";

const text = strings.linkTraining.tiles;

export function Figures({ view, running }: { view: StageView; running: boolean }) {
  const { steps, savedAt } = view;
  const inLab = useInLab();
  const last = steps.at(-1);
  const speed = speedOf(steps);
  const loss = recentMean(steps.slice(-10).map((step) => step.loss));
  const cosine = last?.cosine === undefined ? undefined : recentMean(steps.slice(-10).map((step) => step.cosine ?? 0));
  const or = (value: string | undefined) => value ?? text.none;
  const more = [
    { label: text.tokens, hint: text.tokensHint, value: or(speed && formatCount(speed.tokens)) },
    { label: text.memory, hint: text.memoryHint, value: or(last && formatBytes(last.liveBytes)) },
    { label: text.rate, hint: text.rateHint, value: or(last?.learningRate.toPrecision(3)) },
    {
      label: text.saved,
      hint: text.savedHint,
      value: or(savedAt === undefined ? undefined : text.savedAt(formatCount(savedAt))),
    },
  ];
  return (
    <Tiles
      label={text.label}
      tiles={[
        { label: text.loss, hint: text.lossHint, value: or(loss?.toPrecision(3)) },
        ...(cosine === undefined ? [] : [{ label: text.cosine, hint: text.cosineHint, value: cosine.toFixed(3) }]),
        { label: text.speed, hint: text.speedHint, value: or(speed?.steps.toPrecision(3)) },
        {
          label: text.left,
          hint: text.leftHint,
          value: or(running && last ? formatDuration(1000 * last.secondsLeft) : undefined),
        },
        ...(inLab ? more : []),
      ]}
    />
  );
}

/** Play, pause, step and scrub through a run, with marks where something happens. */
import { ActionIcon, SegmentedControl } from "@mantine/core";
import {
  IconPlayerPauseFilled,
  IconPlayerPlayFilled,
  IconPlayerSkipBackFilled,
  IconPlayerSkipForwardFilled,
  IconPlayerTrackNextFilled,
  IconPlayerTrackPrevFilled,
} from "@tabler/icons-react";
import { useKeys } from "../keys";
import { strings } from "../strings";
import { useHiddenParts } from "./embed";
import { type Playback, SPEEDS, type Speed } from "./playback";
import classes from "./Transport.module.css";

const text = strings.transport;

export interface TransportMark {
  /** Number of moments after which it stands. */
  at: number;
  label: string;
  color: string;
}

interface TransportProps {
  playback: Playback;
  marks: readonly TransportMark[];
  /** What is seen at the position, in words. */
  now: string;
}

export function Transport({ playback, marks, now }: TransportProps) {
  const { position, length, playing, go, toggle } = playback;
  const hidden = useHiddenParts().has("playback");
  const next = marks.find(({ at }) => at > position)?.at ?? length;
  const before = marks.findLast(({ at }) => at < position)?.at ?? 0;
  useTransportKeys(playback, before, next);
  if (hidden) return null;
  return (
    <section className={classes.transport} aria-label={text.label}>
      <div className={classes.buttons}>
        <Control label={text.start} onClick={() => go(0)} disabled={position === 0}>
          <IconPlayerSkipBackFilled size={15} />
        </Control>
        <Control label={text.back} onClick={() => go(position - 1)} disabled={position === 0}>
          <IconPlayerTrackPrevFilled size={15} />
        </Control>
        <Control label={playing ? text.pause : text.play} onClick={toggle} disabled={length === 0}>
          {playing ? <IconPlayerPauseFilled size={17} /> : <IconPlayerPlayFilled size={17} />}
        </Control>
        <Control label={text.forward} onClick={() => go(position + 1)} disabled={position === length}>
          <IconPlayerTrackNextFilled size={15} />
        </Control>
        <Control label={text.end} onClick={() => go(length)} disabled={position === length}>
          <IconPlayerSkipForwardFilled size={15} />
        </Control>
      </div>
      <div className={classes.track}>
        <div className={classes.marks} aria-hidden>
          {length > 0 &&
            marks.map(({ at, label, color }, i) => (
              <span key={i} title={label} style={{ left: `${(100 * at) / length}%`, background: color }} />
            ))}
        </div>
        <input
          type="range"
          className={classes.range}
          min={0}
          max={length}
          step={1}
          value={position}
          aria-label={text.position}
          aria-valuetext={text.at(position, length, now)}
          onChange={(event) => go(Number(event.currentTarget.value))}
        />
        <span className={classes.now}>
          {now} <span className="tabular">{text.count(position, length)}</span>
        </span>
      </div>
      <SegmentedControl
        size="xs"
        className={classes.speed}
        aria-label={text.speed}
        value={String(playback.speed)}
        data={SPEEDS.map((speed) => ({ value: String(speed), label: `${speed}×` }))}
        onChange={(value) => playback.setSpeed(Number(value) as Speed)}
      />
    </section>
  );
}

interface ControlProps {
  label: string;
  disabled: boolean;
  onClick: () => void;
  children: React.ReactNode;
}

function Control({ label, disabled, onClick, children }: ControlProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={32}
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </ActionIcon>
  );
}

/** Space plays, arrows step, with Shift from mark to mark, Home and End. */
function useTransportKeys({ position, length, go, toggle }: Playback, before: number, next: number): void {
  const offered = <T,>(handler: T) => (length > 0 ? handler : undefined);
  useKeys({
    play: offered(toggle),
    back: offered(() => go(position - 1)),
    forward: offered(() => go(position + 1)),
    markBack: offered(() => go(before)),
    markForward: offered(() => go(next)),
    start: offered(() => go(0)),
    end: offered(() => go(length)),
  });
}

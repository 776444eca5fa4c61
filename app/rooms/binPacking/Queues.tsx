/**
 * The documents in the order in which they come, and longest first. The upper row can be walked with the arrow keys:
 * the document chosen there is followed through all packings.
 */
import { useRef, useState } from "react";
import { documentColor } from "../../components/documentColor";
import { formatCount } from "../../format";
import { strings } from "../../strings";
import classes from "./Queues.module.css";

const text = strings.binPacking.picture;
const BAR = 32;

interface QueuesProps {
  lengths: readonly number[];
  capacity: number;
  /** Documents longest first; undefined where nobody sorts. */
  sorted: readonly number[] | undefined;
  /** Rounds that are over, and whether one is going on; at the end nothing is marked. */
  round: number;
  busy: boolean;
  pointed: number | undefined;
  chosen: number | undefined;
  onPoint: (item: number | undefined) => void;
  onChoose: (item: number) => void;
}

export function Queues({ lengths, capacity, sorted, round, busy, ...rest }: QueuesProps) {
  const { pointed, chosen, onPoint, onChoose } = rest;
  const list = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const reachable = Math.min(chosen ?? at, lengths.length - 1);
  const longest = Math.max(...lengths);
  const bar = (item: number) => ({
    height: Math.max(3, ((lengths[item] as number) / longest) * BAR),
    background: documentColor(item),
  });
  const stageOf = (place: number) => (place < round ? "done" : place === round && busy ? "now" : "waiting");
  const walk = (event: React.KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, Home: -lengths.length, End: lengths.length };
    const step = steps[event.key];
    if (step === undefined || event.shiftKey) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(lengths.length - 1, reachable + step));
    setAt(next);
    onChoose(next);
    list.current?.querySelectorAll("button")[next]?.focus();
  };
  return (
    <div className={classes.queues} onPointerLeave={() => onPoint(undefined)}>
      <div className={classes.queue}>
        <span className={classes.name}>{text.queue}</span>
        {/* biome-ignore lint/a11y/useSemanticElements: a toolbar is what these buttons are; there is no element for it. */}
        <div ref={list} className={classes.bars} role="group" aria-label={text.queueLabel} onKeyDown={walk}>
          {lengths.map((tokens, item) => (
            <button
              key={item}
              type="button"
              className={classes.bar}
              data-stage={stageOf(item)}
              data-pointed={pointed === item}
              data-over={tokens > capacity}
              tabIndex={item === reachable ? 0 : -1}
              aria-pressed={chosen === item}
              aria-label={text.document(item + 1, formatCount(tokens))}
              onPointerEnter={() => onPoint(item)}
              onClick={() => onChoose(item)}
            >
              <span style={bar(item)} />
            </button>
          ))}
        </div>
      </div>
      {sorted && (
        <div className={classes.queue}>
          <span className={classes.name}>{text.sorted}</span>
          <div className={classes.bars} aria-hidden>
            {sorted.map((item, place) => (
              <span
                key={item}
                className={classes.bar}
                data-stage={stageOf(place)}
                data-pointed={pointed === item}
                onPointerEnter={() => onPoint(item)}
                onPointerDown={() => onChoose(item)}
              >
                <span style={bar(item)} />
              </span>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}

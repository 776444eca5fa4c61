/**
 * Packing by hand. A document is taken up by dragging, a click or Enter, and put into a bin by letting go, a click or
 * Enter; the arrow keys walk the documents, then the bins. What does not fit is refused with the question that failed.
 */
import { Button } from "@mantine/core";
import { useRef, useState } from "react";
import type { BestPacking } from "../../../src/index";
import { Frame } from "../../components/Frame";
import { formatCount, formatPlural } from "../../format";
import { useKeys } from "../../keys";
import { strings } from "../../strings";
import { HandBin } from "./HandBin";
import { HandBlock } from "./HandBlock";
import classes from "./HandBoard.module.css";
import { binsOfHand, emptyHand, type Hand, handAsks, handOfBins, MOST_BY_HAND, move, resultOf } from "./hand";
import type { Track } from "./timeline";
import { useDrag } from "./useDrag";

const text = strings.binPacking.hand;
const { words } = strings.binPacking;

interface HandBoardProps {
  lengths: readonly number[];
  capacity: number;
  hand: Hand;
  setHand: (hand: Hand) => void;
  /** What is to be beaten: First Fit Decreasing, or the first that is compared. */
  rival: Track;
  best: BestPacking;
}

export function HandBoard(props: HandBoardProps) {
  if (props.lengths.length > MOST_BY_HAND) {
    return <Frame title={text.title}>{text.tooMany(formatCount(MOST_BY_HAND))}</Frame>;
  }
  return <Board {...props} />;
}

type Message = { words: string; refused?: boolean };

function Board({ lengths, capacity, hand, setHand, rival, best }: HandBoardProps) {
  const board = useRef<HTMLDivElement>(null);
  const [held, setHeld] = useState<number>();
  const [message, setMessage] = useState<Message>();
  const [past, setPast] = useState<Hand[]>([]);
  const bins = binsOfHand(hand, lengths, capacity);
  const result = resultOf(hand, bins);
  // As many as are surely needed stand ready, and one more.
  const ready = Math.max(bins.length, Math.min(best.lowerBound, lengths.length - 1));
  const columns = Array.from({ length: ready + 1 }, (_, at) => bins[at]);
  const change = (next: Hand) => {
    setPast((before) => [...before, hand]);
    setHand(next);
  };
  const undo = () => {
    const last = past.at(-1);
    if (!last) return;
    setPast(past.slice(0, -1));
    setHand(last);
    setMessage(undefined);
  };
  useKeys({ undo: past.length > 0 ? undo : undefined });
  const focus = (selector: string) =>
    requestAnimationFrame(() => board.current?.querySelector<HTMLElement>(selector)?.focus());

  const take = (item: number) => {
    setHeld(item);
    setMessage({ words: text.picked(item + 1, formatCount(lengths[item] as number)) });
  };
  const putBack = () => {
    if (held === undefined) return;
    focus(`[data-item="${held}"]`);
    setHeld(undefined);
    setMessage({ words: text.cancelled });
  };
  /** Puts a document into a bin, or back to those that are not packed. */
  const put = (item: number, bin: number | undefined) => {
    const asked = bin === undefined ? undefined : handAsks(hand, lengths, capacity, item, bin);
    if (asked && bin !== undefined && !asked.fits) {
      const { length, used } = asked;
      const question = words.ask(bin + 1, formatCount(length), formatCount(capacity), formatCount(used));
      setMessage({ words: `${question} ${words.no(formatCount(used + length - capacity))}`, refused: true });
      return;
    }
    if (hand[item] !== bin) change(move(hand, item, bin));
    setHeld(undefined);
    setMessage({ words: text.dropped(item + 1, bin === undefined ? text.tray : text.binShort(bin + 1)) });
    // On to the next document that is not packed, or stay with this one.
    const next = hand.findIndex((of, other) => of === undefined && other !== item);
    focus(`[data-item="${bin !== undefined && next >= 0 ? next : item}"]`);
  };
  const target = (place: Element | null): number | undefined | "nowhere" => {
    const name = place?.closest<HTMLElement>("[data-drop]")?.dataset.drop;
    if (name === undefined || !board.current?.contains(place)) return "nowhere";
    return name === "tray" ? undefined : Number(name);
  };
  const drag = useDrag((item, place) => {
    const to = target(place);
    if (to === "nowhere") setMessage({ words: text.cancelled });
    else put(item, to);
  });
  const click = (item: number) => {
    const bin = hand[item];
    if (held === undefined) {
      take(item);
      const fitting = columns.findIndex((_, at) => at !== bin && handAsks(hand, lengths, capacity, item, at).fits);
      focus(`[data-target="${fitting}"]`);
    } else if (held === item) putBack();
    else put(held, bin);
  };
  const walk = (event: React.KeyboardEvent) => {
    if (event.key === "Escape" && held !== undefined) {
      event.stopPropagation();
      putBack();
      return;
    }
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    const from = event.target as HTMLElement;
    const kind = from.matches("[data-item]") ? "[data-item]" : from.matches("[data-target]") ? "[data-target]" : "";
    if (step === undefined || kind === "" || event.shiftKey) return;
    event.preventDefault();
    const all = [...(board.current?.querySelectorAll<HTMLElement>(kind) ?? [])];
    all[(all.indexOf(from) + step + all.length) % all.length]?.focus();
  };
  const firstOpen = hand.indexOf(undefined);
  const block = (item: number) => (
    <HandBlock
      key={item}
      item={item}
      length={lengths[item] as number}
      capacity={capacity}
      held={held === item}
      dragged={drag.item === item ? drag : undefined}
      reachable={item === Math.max(0, firstOpen)}
      onPointerDown={(event) => drag.start(item, event)}
      onClick={() => !drag.justDropped() && click(item)}
    />
  );
  const open = hand.flatMap((bin, item) => (bin === undefined ? [item] : []));
  return (
    <Frame
      title={text.title}
      hint={text.hint}
      tools={
        <>
          <Button size="compact-xs" variant="default" disabled={past.length === 0} onClick={undo}>
            {text.undo}
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            disabled={open.length === lengths.length}
            onClick={() => change(emptyHand(lengths.length))}
          >
            {text.clear}
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => change(handOfBins(rival.packing.bins, lengths.length))}
          >
            {text.copy(shortOf(rival))}
          </Button>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => change(handOfBins(best.packing.bins, lengths.length))}
          >
            {text.best}
          </Button>
        </>
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys move between the buttons inside. */}
      <div ref={board} className={classes.board} data-holding={held !== undefined} onKeyDown={walk}>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: by keyboard the button of the tray does this. */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: as above. */}
        <div className={classes.tray} data-drop="tray" onClick={() => held !== undefined && put(held, undefined)}>
          <span className={classes.trayName}>{open.length > 0 ? text.tray : text.trayEmpty}</span>
          <div className={classes.trayBlocks}>{open.map(block)}</div>
        </div>
        <ol className={classes.bins}>
          {columns.map((bin, at) => (
            <HandBin
              key={at}
              at={at}
              used={bin?.used ?? 0}
              capacity={capacity}
              isNew={at === columns.length - 1}
              holding={held !== undefined}
              onPut={() => held !== undefined && put(held, at)}
            >
              {bin?.items.map(block)}
            </HandBin>
          ))}
        </ol>
        <p className={classes.verdict} role="status">
          <b>{text.count(formatPlural(result.bins, "bin"))}</b>
          <Verdict result={result} rival={rival} best={best} />
          {message && <span data-refused={message.refused}>{message.words}</span>}
        </p>
      </div>
    </Frame>
  );
}

const shortOf = ({ algorithm }: Track) => strings.binPacking.algorithms[algorithm].short;

interface VerdictProps {
  result: ReturnType<typeof resultOf>;
  rival: Track;
  best: BestPacking;
}

function Verdict({ result, rival, best }: VerdictProps) {
  if (result.overfull) return <span data-refused>{text.overfull}</span>;
  if (result.open > 0) return <span>{text.open(formatPlural(result.open, "document"))}</span>;
  const theirs = rival.packing.bins.length;
  const compared = result.bins < theirs ? text.beats : result.bins === theirs ? text.ties : text.loses;
  return (
    <span className={classes.compared} data-good={result.bins <= theirs}>
      {compared(shortOf(rival), theirs)} {result.bins === best.lowerBound && text.optimal}
    </span>
  );
}

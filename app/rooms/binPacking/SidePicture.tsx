/** The main picture: the queue, and all algorithms under each other at the same scale at one moment. */
import { Button } from "@mantine/core";
import { useMemo, useRef, useState } from "react";
import type { BestPacking } from "../../../src/index";
import { ExportMenu } from "../../components/ExportMenu";
import { Frame } from "../../components/Frame";
import { type Table, TableTwin } from "../../components/TableTwin";
import { useWidth } from "../../components/useWidth";
import { formatCount, formatPlural } from "../../format";
import { strings } from "../../strings";
import type { PackedDocument } from "./documents";
import { exportJson } from "./exportJson";
import { PackingRow } from "./PackingRow";
import { Queues } from "./Queues";
import { rowsAsSvg } from "./rowsAsSvg";
import classes from "./SidePicture.module.css";
import { type Moment, stateAt, type Track } from "./timeline";

const text = strings.binPacking;
const WIDEST_SLOT = 72;

interface SidePictureProps {
  documents: readonly PackedDocument[];
  lengths: readonly number[];
  capacity: number;
  best: BestPacking;
  tracks: readonly Track[];
  moment: Moment | undefined;
  chosen: number | undefined;
  onChoose: (item: number | undefined) => void;
}

export function SidePicture(props: SidePictureProps) {
  const { documents, lengths, capacity, best, tracks, moment, chosen, onChoose } = props;
  const bound = best.lowerBound;
  const list = useRef<HTMLUListElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const [over, setOver] = useState<number>();
  const pointed = over ?? chosen;
  const states = useMemo(() => tracks.map((track) => stateAt(track, moment)), [tracks, moment]);
  const most = Math.max(bound, ...tracks.map(({ packing }) => packing.bins.length));
  // The names stand beside the bins where there is room for both.
  const room = Math.max(120, width > 620 ? width - 244 : width);
  const scale = useMemo(() => ({ width: room, slot: Math.min(WIDEST_SLOT, room / Math.max(1, most)) }), [room, most]);
  const finished = moment && moment.comparison === undefined && moment.round === lengths.length - 1;
  const table = () => binTable(documents, capacity, tracks);
  return (
    <Frame
      title={text.picture.title}
      hint={text.picture.hint}
      tools={
        <ExportMenu
          name="bin-packing"
          title={text.picture.title}
          table={table}
          svg={() => rowsAsSvg(list.current)}
          json={() => exportJson(documents, capacity, tracks, best)}
        />
      }
    >
      <Queues
        lengths={lengths}
        capacity={capacity}
        sorted={tracks.find(({ algorithm }) => algorithm === "ffd")?.rounds.map(({ placement }) => placement.item)}
        round={moment && !finished ? moment.round : 0}
        busy={moment !== undefined && !finished}
        pointed={pointed}
        chosen={chosen}
        onPoint={setOver}
        onChoose={onChoose}
      />
      <Followed {...props} item={pointed} />
      <div ref={box}>
        <ul ref={list} className={classes.rows}>
          {tracks.map((track, i) => (
            <PackingRow
              key={track.algorithm}
              track={track}
              state={states[i]!}
              lengths={lengths}
              capacity={capacity}
              bound={bound}
              proven={best.proven}
              scale={scale}
              first={i === 0}
              pointed={pointed}
              onPoint={setOver}
              onChoose={onChoose}
            />
          ))}
        </ul>
      </div>
      <TableTwin caption={text.picture.table} table={table} />
    </Frame>
  );
}

/** The document that is pointed at or chosen, and where every algorithm puts it. */
function Followed({
  item,
  documents,
  capacity,
  tracks,
  chosen,
  onChoose,
}: SidePictureProps & { item: number | undefined }) {
  const document = item === undefined ? undefined : documents[item];
  if (item === undefined || !document) return <p className={classes.followed}>{text.picture.pick}</p>;
  const { tokens, title } = document;
  return (
    <p className={classes.followed}>
      <b>{text.picture.where(item + 1, formatCount(tokens))}</b>
      {title && <span>{title}</span>}
      {tokens > capacity && <span className={classes.cut}>{text.picture.cutTo(formatCount(capacity))}</span>}
      {tracks.map((track) => (
        <span key={track.algorithm}>
          {text.picture.inBin(text.algorithms[track.algorithm].short, String(binOf(track, item) + 1))}
        </span>
      ))}
      {chosen !== undefined && (
        <Button size="compact-xs" variant="default" onClick={() => onChoose(undefined)}>
          {text.picture.unselect}
        </Button>
      )}
    </p>
  );
}

function binOf({ packing }: Track, item: number): number {
  return packing.bins.findIndex(({ items }) => items.includes(item));
}

function binTable(documents: readonly PackedDocument[], capacity: number, tracks: readonly Track[]): Table {
  const { tableDocument, tableTokens, untitled, cutTo } = text.picture;
  return {
    head: [tableDocument, tableTokens, ...tracks.map(({ algorithm }) => text.algorithms[algorithm].short)],
    rows: documents.map(({ tokens, title = untitled }, item) => [
      `${item + 1} ${title}`,
      tokens > capacity ? `${tokens} (${cutTo(String(capacity))})` : tokens,
      ...tracks.map((track) => binOf(track, item) + 1),
    ]),
  };
}

/** How many documents are longer than a bin, and what is lost of them. */
export function CutNotice({ lengths, capacity }: { lengths: readonly number[]; capacity: number }) {
  const cut = lengths.filter((length) => length > capacity);
  if (cut.length === 0) return null;
  const lost = cut.reduce((sum, length) => sum + length - capacity, 0);
  return <p className={classes.notice}>{text.status.cut(formatPlural(cut.length, "document"), formatCount(lost))}</p>;
}

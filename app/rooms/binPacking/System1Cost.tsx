/** What the packings mean for System 1: calls, tokens read, the longest prompt. Counted with the shipped tokenizer. */
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Frame } from "../../components/Frame";
import { formatCount } from "../../format";
import { strings } from "../../strings";
import { nameOf } from "./Figures";
import { NumberTable } from "./NumberTable";
import classes from "./System1Cost.module.css";
import type { Track } from "./timeline";

const text = strings.binPacking.system1;
/** Bins that the dual-system room can be opened with. */
const LIVE = { min: 64, max: 1024 } as const;

export function System1Cost({ tracks, capacity }: { tracks: readonly Track[]; capacity: number }) {
  const instruction = useInstructionTokens();
  const live = Math.max(LIVE.min, Math.min(LIVE.max, capacity));
  return (
    <Frame title={text.title} hint={instruction === undefined ? text.unknown : text.hint(formatCount(instruction))}>
      {instruction !== undefined && (
        <NumberTable
          caption={text.caption}
          head={[strings.binPacking.figures.algorithm, text.calls, text.read, text.longest]}
          rows={tracks.map(({ algorithm, figures, packing }) => {
            const read = packing.bins.reduce((sum, { used }) => sum + used, 0);
            const { bins, longestBin } = figures;
            const numbers = [bins, read + bins * instruction, bins === 0 ? 0 : longestBin + instruction];
            return { key: algorithm, cells: [nameOf(algorithm), ...numbers.map(formatCount)] };
          })}
        />
      )}
      <p className={classes.counted}>
        {text.counted}{" "}
        <Link to="/dual-system" search={{ capacity: live }}>
          {text.open(formatCount(live))}
        </Link>
      </p>
    </Frame>
  );
}

/** Of the shipped System 1; undefined until its tokenizer is there, or when it cannot be had. */
function useInstructionTokens(): number | undefined {
  const [tokens, setTokens] = useState<number>();
  useEffect(() => {
    let gone = false;
    import("./articles")
      .then(({ shippedReader }) => shippedReader())
      .then(
        ({ instructionTokens }) => !gone && setTokens(instructionTokens),
        () => undefined,
      );
    return () => {
      gone = true;
    };
  }, []);
  return tokens;
}

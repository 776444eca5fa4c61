/** What the inspector shows of each part: figures, and every text exactly as it was read or written. */
import type { TraceDocument } from "../../../src/index";
import { ExactText } from "../../components/ExactText";
import { Facts } from "../../components/Facts";
import { type LaneView, rawTokensOf, type TurnView } from "../../engine/runView";
import { formatCount, formatDuration, formatPercent } from "../../format";
import { strings } from "../../strings";
import { BranchForm } from "./BranchForm";
import { DocumentChip } from "./DocumentChip";
import classes from "./InspectorDetails.module.css";
import { QuoteText } from "./QuoteText";
import { locateQuote, splitQuotes } from "./quotes";
import { SourceExcerpt } from "./SourceExcerpt";

const text = { ...strings.inspector, ...strings.dualSystem.inspector };

/** Time and speed of a generation. */
function speedFacts(tokens: number, ms: number) {
  return [
    [text.time, formatDuration(ms)],
    ms > 0 && ([text.speed, ((1000 * tokens) / ms).toPrecision(3)] as const),
  ] as const;
}

export function System2Detail({ turn }: { turn: TurnView }) {
  const { message } = turn;
  return (
    <>
      <Facts
        facts={[
          [text.tokensIn, formatCount(turn.promptTokens)],
          message && [text.tokensOut, formatCount(message.outputTokens)],
          ...(message ? speedFacts(message.outputTokens, message.ms) : []),
        ]}
      />
      {message?.edited && <p className={classes.edited}>{strings.dualSystem.branch.edited}</p>}
      {message && <BranchForm key={`${turn.turn} ${turn.call?.purpose}`} turn={turn} />}
      <ExactText title={text.output} text={message?.text ?? turn.streamed} pending={!message} />
      {message && <ExactText title={text.prompt} text={message.prompt} />}
    </>
  );
}

export function LaneDetail({ lane, turn }: { lane: LaneView; turn: TurnView }) {
  const { outputTokens, ms } = lane;
  const items = turn.packed?.bins[lane.bin]?.items ?? [];
  return (
    <>
      <Facts
        facts={[
          [text.tokensIn, formatCount(lane.promptTokens)],
          outputTokens !== undefined && [text.tokensOut, formatCount(outputTokens)],
          ...(outputTokens !== undefined && ms !== undefined ? speedFacts(outputTokens, ms) : []),
        ]}
      />
      <Items items={items} turn={turn} />
      <ExactText title={text.output} text={lane.text} pending={outputTokens === undefined} />
      <ExactText title={text.prompt} text={lane.prompt} />
    </>
  );
}

export function BinsDetail({ turn }: { turn: TurnView }) {
  const { packed } = turn;
  if (!packed) return null;
  return (
    <>
      <Facts
        facts={[
          [text.capacity, formatCount(packed.capacity)],
          [text.binCount, formatCount(packed.bins.length)],
          [text.lowerBound, formatCount(packed.lowerBound)],
          [text.utilization, formatPercent(packed.utilization)],
        ]}
      />
      {packed.bins.map(({ items, used }, bin) => (
        <section key={bin} className={classes.block}>
          <h3 className={classes.heading}>
            {strings.dualSystem.run.bin(bin + 1)}
            <span>{text.binUsed(formatCount(used), formatCount(packed.capacity))}</span>
          </h3>
          <Items items={items} turn={turn} />
        </section>
      ))}
    </>
  );
}

function Items({ items, turn }: { items: readonly number[]; turn: TurnView }) {
  return (
    <ul className={classes.items}>
      {items.map((item) => {
        const document = turn.documents?.[item];
        return (
          document && (
            <li key={item}>
              <DocumentChip index={item} /> <span className={classes.itemTitle}>{document.title}</span>
              <span className={classes.itemTokens}>
                {turn.packed?.truncated.includes(item) && `${text.cut} · `}
                {formatCount(document.tokens)}
              </span>
            </li>
          )
        );
      })}
    </ul>
  );
}

export function RefinedDetail({ turn, useSystem1 }: { turn: TurnView; useSystem1: boolean }) {
  const { refined, documents = [] } = turn;
  if (!refined) return null;
  return (
    <>
      <Facts
        facts={[
          [text.tokens, formatCount(refined.tokens)],
          useSystem1 && [text.replaced, formatCount(rawTokensOf(turn))],
        ]}
      />
      {useSystem1 && (
        <div className={classes.block}>
          <QuoteText text={refined.text} turn={turn.turn} documents={documents} />
        </div>
      )}
      <ExactText title={text.output} text={refined.text} />
    </>
  );
}

interface DocumentDetailProps {
  document: TraceDocument;
  index: number;
  turn: TurnView;
  /** The quote that led here. */
  quote: string | undefined;
}

export function DocumentDetail({ document, index, turn, quote }: DocumentDetailProps) {
  return (
    <>
      <Facts
        facts={[
          [text.tokens, formatCount(document.tokens)],
          document.score !== undefined && [text.score, document.score.toPrecision(3)],
          [text.id, document.id],
        ]}
      />
      {document.source && <SourceExcerpt source={document.source} quote={quote ?? quotesFrom(turn, index)[0]} />}
      {document.source?.kind === "file" && <h3 className={classes.heading}>{text.asRead}</h3>}
      <p className={classes.document}>
        {markQuotes(document, quote === undefined ? quotesFrom(turn, index) : [quote])}
      </p>
    </>
  );
}

/** What System 1 quoted from a document, in any of the turn's lanes. */
function quotesFrom(turn: TurnView, index: number): string[] {
  return turn.lanes.flatMap(({ text: output }) =>
    splitQuotes(output, turn.documents ?? [])
      .filter((segment) => segment.document === index)
      .map((segment) => segment.text),
  );
}

/** The document's text with its quotes marked. */
function markQuotes(document: TraceDocument, quotes: readonly string[]) {
  const places = quotes.flatMap((quote) => {
    const place = locateQuote(document, quote);
    return place ? [place] : [];
  });
  places.sort(([a], [b]) => a - b);
  const parts: React.ReactNode[] = [];
  let at = 0;
  for (const [start, end] of places) {
    if (start < at) continue;
    parts.push(document.text.slice(at, start), <mark key={start}>{document.text.slice(start, end)}</mark>);
    at = end;
  }
  parts.push(document.text.slice(at));
  return parts;
}

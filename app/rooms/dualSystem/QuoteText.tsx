/** System 1's words: quotes linked to the sentence they come from, everything else as it stands. */
import { Tooltip } from "@mantine/core";
import { IconMinus } from "@tabler/icons-react";
import type { TraceDocument } from "../../../src/index";
import { useSelection } from "../../stores/selectionStore";
import { strings } from "../../strings";
import { DocumentChip } from "./DocumentChip";
import classes from "./QuoteText.module.css";
import { locateQuote, splitQuotes } from "./quotes";

interface QuoteTextProps {
  text: string;
  /** The turn whose tool returned `documents`. */
  turn: number;
  documents: readonly TraceDocument[];
}

export function QuoteText({ text, turn, documents }: QuoteTextProps) {
  const segments = splitQuotes(text, documents);
  const nothing = segments.filter((segment) => segment.nothing);
  return (
    <>
      {segments.map(({ text: words, document, nothing: denies }, i) => {
        if (denies) return null;
        if (document === undefined)
          return (
            <p key={i} className={classes.plain}>
              {words}
            </p>
          );
        return <Quote key={i} quote={words} turn={turn} index={document} document={documents[document]!} />;
      })}
      {nothing.length > 0 && (
        <p className={classes.nothing}>
          <IconMinus size={12} aria-hidden />
          {nothing.length === 1
            ? strings.dualSystem.run.nothingRelevant
            : strings.dualSystem.run.nothingFrom(nothing.length)}
        </p>
      )}
    </>
  );
}

interface QuoteProps {
  quote: string;
  turn: number;
  index: number;
  document: TraceDocument;
}

function Quote({ quote, turn, index, document }: QuoteProps) {
  const link = () => useSelection.setState({ linked: { turn, document: index } });
  const unlink = () => useSelection.setState({ linked: undefined });
  return (
    <Tooltip
      label={<Source quote={quote} index={index} document={document} />}
      events={{ hover: true, focus: true, touch: false }}
      multiline
      w={320}
      openDelay={150}
      classNames={{ tooltip: classes.tooltip }}
    >
      <button
        type="button"
        className={classes.quote}
        onMouseEnter={link}
        onMouseLeave={unlink}
        onFocus={link}
        onBlur={unlink}
        onClick={() => useSelection.setState({ selected: { part: "document", turn, document: index, quote } })}
      >
        <DocumentChip index={index} />
        <span className={classes.words}>{quote}</span>
      </button>
    </Tooltip>
  );
}

const CONTEXT_CHARACTERS = 130;

/** The sentence with some of the document around it. */
function Source({ quote, index, document }: Omit<QuoteProps, "turn">) {
  const place = locateQuote(document, quote);
  const { text, title } = document;
  return (
    <>
      <span className={classes.title}>{strings.dualSystem.run.sourceOf(index + 1, title)}</span>
      {place ? (
        <span>
          {clip(text.slice(0, place[0]), -CONTEXT_CHARACTERS)}
          <mark className={classes.mark}>{quote}</mark>
          {clip(text.slice(place[1]), CONTEXT_CHARACTERS)}
        </span>
      ) : (
        <em>{strings.dualSystem.run.notVerbatim}</em>
      )}
    </>
  );
}

/** The last (`length` < 0) or first characters of a text, with an ellipsis where something was cut. */
function clip(text: string, length: number): string {
  if (text.length <= Math.abs(length)) return text;
  return length < 0 ? `… ${text.slice(length)}` : `${text.slice(0, length)} …`;
}

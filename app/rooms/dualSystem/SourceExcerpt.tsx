/** A passage of the visitor's own file in its place, with the quote marked; or the address of a page on the network. */
import { IconExternalLink } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import type { DocumentSource } from "../../../src/index";
import type { SourceView } from "../../../src/worker/researchProtocol";
import { formatCount } from "../../format";
import { useDocuments } from "../../stores/documentsStore";
import { engine } from "../../stores/engineStore";
import { strings } from "../../strings";
import classes from "./SourceExcerpt.module.css";

const text = strings.dualSystem.source;

interface SourceExcerptProps {
  source: DocumentSource;
  quote: string | undefined;
}

export function SourceExcerpt({ source, quote }: SourceExcerptProps) {
  if (source.kind === "web") {
    return (
      <p className={classes.web}>
        <a href={source.url} target="_blank" rel="noreferrer noopener">
          {source.url} <IconExternalLink size={13} aria-hidden />
        </a>
      </p>
    );
  }
  return <FileExcerpt key={`${source.file} ${source.start} ${quote}`} source={source} quote={quote} />;
}

type FileSource = Extract<DocumentSource, { kind: "file" }>;

function FileExcerpt({ source, quote }: { source: FileSource; quote: string | undefined }) {
  const corpus = useDocuments((state) => state.corpus);
  const [view, setView] = useState<SourceView | null>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the file may go or come back with the corpus.
  useEffect(() => {
    let gone = false;
    void engine()
      .viewSource(source, quote)
      .then((found) => !gone && setView(found ?? null));
    return () => {
      gone = true;
    };
  }, [source, quote, corpus]);
  const marked = useRef<HTMLElement>(null);
  useEffect(() => {
    const { current } = marked;
    const box = current?.closest<HTMLElement>(`.${classes.text}`);
    // Only the box scrolls; the page stays where it is.
    if (view && current && box) box.scrollTop = current.offsetTop - box.offsetTop - box.clientHeight / 3;
  }, [view]);
  if (view === undefined) return null;
  if (view === null) return <p className={classes.gone}>{text.gone(source.file)}</p>;
  const { before, after, passage } = view;
  const [from, to] = passage;
  const inner = view.quote ?? passage;
  return (
    <section className={classes.block} aria-label={text.label}>
      <h3 className={classes.head}>
        {view.file}
        {view.place && <span>{text.places[view.place.unit](formatCount(view.place.number))}</span>}
      </h3>
      {quote !== undefined && !view.quote && <p className={classes.gone}>{text.notFound}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre className={classes.text} tabIndex={0} data-testid="source">
        {before > 0 && <span className={classes.cut}>{text.before(formatCount(before))}</span>}
        <span className={classes.around}>{view.text.slice(0, from)}</span>
        <span className={classes.passage}>
          {view.text.slice(from, inner[0])}
          {view.quote ? (
            <mark ref={marked}>{view.text.slice(...inner)}</mark>
          ) : (
            <span ref={marked}>{view.text.slice(...inner)}</span>
          )}
          {view.text.slice(inner[1], to)}
        </span>
        <span className={classes.around}>{view.text.slice(to)}</span>
        {after > 0 && <span className={classes.cut}>{text.after(formatCount(after))}</span>}
      </pre>
    </section>
  );
}

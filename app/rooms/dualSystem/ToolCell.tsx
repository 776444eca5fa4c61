/** What the tool of a turn returned: every document as long as its tokens. */

import { Loader } from "@mantine/core";
import { documentColor } from "../../components/documentColor";
import { rawTokensOf, type TurnView } from "../../engine/runView";
import { formatCount, formatDuration, formatPlural } from "../../format";
import { useSelection } from "../../stores/selectionStore";
import { strings } from "../../strings";
import { DocumentChip } from "./DocumentChip";
import { CellLabel } from "./LaneLabel";
import { Selectable } from "./Selectable";
import classes from "./ToolCell.module.css";

const text = strings.dualSystem.run;

interface ToolCellProps {
  turn: TurnView;
  number: number;
  /** Tokens of a document that fills the width. */
  longest: number;
  /** The run is in this turn. */
  active: boolean;
}

export function ToolCell({ turn, number, longest, active }: ToolCellProps) {
  const linked = useSelection((state) => (state.linked?.turn === turn.turn ? state.linked.document : undefined));
  const { documents, toolMs, toolError } = turn;
  if (!turn.call && toolError === undefined) return null;
  return (
    <>
      <CellLabel lane="tools" />
      {toolError !== undefined && <p className={classes.error}>{toolError}</p>}
      {active && turn.call && !documents && toolError === undefined && (
        <p className={classes.running}>
          <Loader size={12} color="var(--tools-text)" />
          {turn.call.name === "python" ? text.pythonRunning : text.toolRunning(turn.call.name)}
        </p>
      )}
      {documents && (
        <>
          <p className={classes.summary}>
            {documents.length === 0
              ? text.noDocuments
              : text.documents(formatPlural(documents.length, "document"), formatCount(rawTokensOf(turn)))}
            <span>{toolMs !== undefined && formatDuration(toolMs)}</span>
          </p>
          <ol className={classes.list}>
            {documents.map(({ title, tokens }, i) => (
              <li key={i}>
                <Selectable
                  selection={{ part: "document", turn: turn.turn, document: i }}
                  label={`${strings.dualSystem.run.turn(number)}: ${strings.dualSystem.inspector.document(i + 1, title)}`}
                  className={classes.document}
                  linked={linked === i}
                >
                  <span
                    className={classes.length}
                    style={{ width: `${(100 * tokens) / longest}%`, background: documentColor(i) }}
                  />
                  <DocumentChip index={i} />
                  <span className={classes.title}>{title}</span>
                  <span className={classes.tokens}>{formatCount(tokens)}</span>
                </Selectable>
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}

/** What is asked, how messages are passed, and through which links. */
import { Panel } from "../../components/Panel";
import { strings } from "../../strings";
import classes from "./ControlPanel.module.css";
import { LinksForm } from "./LinksForm";
import { QuestionForm } from "./QuestionForm";
import { RunForm } from "./RunForm";
import { RunList } from "./RunList";
import type { RoomSearch } from "./search";

const text = strings.latentRecursion;

export interface ControlPanelProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  busy: boolean;
  /** Undefined while nothing can be run. */
  onRun: ((compare: boolean) => void) | undefined;
}

export function ControlPanel(props: ControlPanelProps) {
  return (
    <Panel label={strings.rooms.latentRecursion.title} more={text.more}>
      <QuestionForm {...props} />
      <RunForm {...props} />
      <LinksForm {...props} />
      <RunList />
      <p className={classes.honest}>{text.honest}</p>
    </Panel>
  );
}

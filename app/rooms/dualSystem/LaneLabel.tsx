/** The name of a lane, upright at the left edge of its band; stays in sight while the picture scrolls. */
import { type Lane, LaneMark } from "../../components/LaneMark";
import { strings } from "../../strings";
import classes from "./LaneLabel.module.css";

export function LaneLabel({ lane }: { lane: Lane }) {
  return (
    <>
      <div className={classes.band} data-lane={lane} />
      <div className={classes.label} data-lane={lane} aria-hidden>
        <LaneMark lane={lane} />
        <span className={classes.name}>{strings.dualSystem.lanes[lane]}</span>
      </div>
    </>
  );
}

/** The same name as a heading inside a cell, for narrow screens, where lanes stand one under the other. */
export function CellLabel({ lane }: { lane: Lane }) {
  return (
    <p className={classes.cellLabel} data-lane={lane}>
      <LaneMark lane={lane} size={18} /> <b>{strings.dualSystem.lanes[lane]}</b>{" "}
      {strings.dualSystem.lanes[`${lane}Role`]}
    </p>
  );
}

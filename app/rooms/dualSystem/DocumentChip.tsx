/** The number of a document in its own colour. */

import { documentColor } from "../../components/documentColor";
import classes from "./DocumentChip.module.css";

export function DocumentChip({ index }: { index: number }) {
  return (
    <span className={classes.chip} style={{ background: documentColor(index) }}>
      {index + 1}
    </span>
  );
}

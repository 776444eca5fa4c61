/** The number of a document in its own colour. */
import classes from "./DocumentChip.module.css";
import { documentColor } from "./documentColor";

export function DocumentChip({ index }: { index: number }) {
  return (
    <span className={classes.chip} style={{ background: documentColor(index) }}>
      {index + 1}
    </span>
  );
}

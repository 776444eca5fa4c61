/** Bytes on the device by what they are for: a bar, and the figures under it. */
import { formatBytes } from "../../format";
import { strings } from "../../strings";
import classes from "./MemoryBar.module.css";

const text = strings.models.memory;
const PARTS = ["weights", "keyValueCache", "activations"] as const;

interface MemoryBarProps {
  /** Of what. */
  label: string;
  bytes: Record<(typeof PARTS)[number], number>;
  /** Of the whole bar; default: the sum. */
  scale?: number;
}

export function MemoryBar({ label, bytes, scale }: MemoryBarProps) {
  const total = PARTS.reduce((sum, part) => sum + bytes[part], 0);
  const whole = Math.max(scale ?? total, total, 1);
  return (
    <div className={classes.memory}>
      <div className={classes.bar} aria-hidden>
        {PARTS.map((part) => (
          <span key={part} data-part={part} style={{ width: `${(100 * bytes[part]) / whole}%` }} />
        ))}
      </div>
      <dl className={classes.figures} aria-label={text.label(label)}>
        {PARTS.map((part) => (
          <div key={part}>
            <dt data-part={part}>{text[part]}</dt>
            <dd>{formatBytes(bytes[part])}</dd>
          </div>
        ))}
        <div>
          <dt>{strings.models.checkpoint.total}</dt>
          <dd>{formatBytes(total)}</dd>
        </div>
      </dl>
    </div>
  );
}

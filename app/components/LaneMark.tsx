/** The sign of a lane: colour, shape and symbol say the same, so that no one of them is needed alone. */
import classes from "./LaneMark.module.css";

export type Lane = "system2" | "system1" | "tools";

/** Square with 2, circle with 1, hexagon with a lens. Decorative: the lane's name stands beside it. */
export function LaneMark({ lane, size = 20 }: { lane: Lane; size?: number }) {
  return (
    <svg className={classes.mark} data-lane={lane} viewBox="0 0 20 20" width={size} height={size} aria-hidden>
      {lane === "system2" && <rect x="1.5" y="1.5" width="17" height="17" rx="3.5" />}
      {lane === "system1" && <circle cx="10" cy="10" r="9" />}
      {lane === "tools" && <path d="M5.4 1.8h9.2L19.2 10l-4.6 8.2H5.4L.8 10z" />}
      {lane === "tools" ? (
        <g className={classes.lens}>
          <circle cx="9" cy="9" r="3.3" />
          <path d="m11.6 11.6 2.9 2.9" />
        </g>
      ) : (
        <text x="10" y="14.2" textAnchor="middle">
          {lane === "system2" ? "2" : "1"}
        </text>
      )}
    </svg>
  );
}

/** Under an embedded room: where it comes from, and the way to all of its controls. */
import { useLocation } from "@tanstack/react-router";
import { strings } from "../strings";
import classes from "./EmbedLine.module.css";

export function EmbedLine() {
  // Rendered anew with every change of the address.
  const { href } = useLocation();
  const whole = `#${href.replace(/([?&])embed=1&?/, "$1").replace(/[?&]$/, "")}`;
  return (
    <footer className={classes.line}>
      <a href={whole} target="_blank" rel="noreferrer">
        {strings.embed.open}
      </a>
    </footer>
  );
}

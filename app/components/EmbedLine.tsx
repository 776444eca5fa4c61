/** Under an embedded room: where it comes from, and the way to all of its controls. */
import { useLocation } from "@tanstack/react-router";
import { strings } from "../strings";
import classes from "./EmbedLine.module.css";
import { wholeAddress } from "./embed";

export function EmbedLine() {
  // Rendered anew with every change of the address.
  const { href } = useLocation();
  return (
    <footer className={classes.line}>
      <a href={`#${wholeAddress(href)}`} target="_blank" rel="noreferrer">
        {strings.embed.open}
      </a>
    </footer>
  );
}

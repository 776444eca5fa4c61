/** A row of figures that change while something runs. */
import { Tooltip } from "@mantine/core";
import classes from "./Tiles.module.css";

export interface Tile {
  label: string;
  value: string;
  /** One line on what the figure is. */
  hint: string;
}

export function Tiles({ label, tiles }: { label: string; tiles: readonly Tile[] }) {
  return (
    <dl className={classes.tiles} aria-label={label}>
      {tiles.map((tile) => (
        <Tooltip key={tile.label} label={tile.hint} multiline maw={260} openDelay={300}>
          <div>
            <dt>{tile.label}</dt>
            <dd>{tile.value}</dd>
          </div>
        </Tooltip>
      ))}
    </dl>
  );
}

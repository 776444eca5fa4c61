/** Figures with their names, side by side. */
import classes from "./Facts.module.css";

export type Fact = readonly [label: string, value: string];

/** Facts that are not known (undefined, false) are left out. */
export function Facts({ facts }: { facts: readonly (Fact | undefined | false)[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(
        (fact) =>
          fact && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** Two runs side by side: what differed, what came of it, and what it cost. */
import { Button, Switch } from "@mantine/core";
import { useMemo, useState } from "react";
import { ExportMenu } from "../../components/ExportMenu";
import { Frame } from "../../components/Frame";
import { formatCount } from "../../format";
import { isBusy, type KeptRun, showRun, useRun } from "../../stores/runStore";
import { strings } from "../../strings";
import classes from "./Comparison.module.css";
import { type ComparedRow, compareRuns } from "./comparison";

const text = strings.dualSystem.compare;

/** Nothing until two runs are chosen. */
export function Comparison() {
  const { runs, pins } = useRun();
  const a = runs.find(({ id }) => id === pins.a);
  const b = runs.find(({ id }) => id === pins.b);
  return a && b ? <TwoRuns a={a} b={b} /> : null;
}

function TwoRuns({ a, b }: { a: KeptRun; b: KeptRun }) {
  const busy = useRun(isBusy);
  const [all, setAll] = useState(false);
  const rows = useMemo(() => compareRuns(a.view, b.view), [a.view, b.view]);
  const shown = rows.filter(({ isSetting, isEqual }) => all || !isSetting || !isEqual);
  const table = () => ({
    head: [text.quantity, text.run("A"), text.run("B"), text.difference],
    rows: rows.map((row) => [row.label, row.a, row.b, row.difference ?? ""]),
  });
  return (
    <Frame
      title={text.title}
      hint={rows.every(({ isSetting, isEqual }) => !isSetting || isEqual) ? text.sameSettings : text.hint}
      tools={
        <>
          <Switch
            size="xs"
            label={text.allSettings}
            checked={all}
            onChange={(event) => setAll(event.currentTarget.checked)}
          />
          <ExportMenu
            name="twinloop-comparison"
            title={text.title}
            table={table}
            json={() => ({ a: exported(a), b: exported(b) })}
          />
        </>
      }
    >
      <Bars a={a} b={b} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <section className={classes.scroller} tabIndex={0} aria-label={text.table}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{text.quantity}</th>
              {[a, b].map((run, i) => (
                <th key={i} scope="col">
                  {text.run("AB"[i]!)}{" "}
                  <Button size="compact-xs" variant="subtle" disabled={busy} onClick={() => showRun(run.id)}>
                    {text.show}
                  </Button>
                </th>
              ))}
              <th scope="col">{text.difference}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Row key={row.label} row={row} />
            ))}
          </tbody>
        </table>
      </section>
    </Frame>
  );
}

function Row({ row }: { row: ComparedRow }) {
  const { label, a, b, difference, isEqual } = row;
  return (
    <tr data-equal={isEqual}>
      <th scope="row">{label}</th>
      <td>{a}</td>
      <td>{b}</td>
      <td className={classes.difference}>{difference}</td>
    </tr>
  );
}

/** What System 2 had to read in both, to one scale; the dashed part is what System 1 kept out. */
function Bars({ a, b }: { a: KeptRun; b: KeptRun }) {
  const ledgers = [a.view.ledger, b.view.ledger];
  const scale = Math.max(
    1,
    ...ledgers.flatMap((ledger) => [ledger.system2ContextTokens, ledger.system2ContextWithoutSystem1]),
  );
  return (
    <div className={classes.bars}>
      {ledgers.map((ledger, i) => (
        <div key={i} className={classes.bar}>
          <b>{"AB"[i]}</b>
          <span className={classes.track}>
            <span
              className={classes.ghost}
              style={{ width: `${(100 * ledger.system2ContextWithoutSystem1) / scale}%` }}
            />
            <span className={classes.fill} style={{ width: `${(100 * ledger.system2ContextTokens) / scale}%` }} />
          </span>
          <span className="tabular">{text.context(formatCount(ledger.system2ContextTokens))}</span>
        </div>
      ))}
    </div>
  );
}

function exported({ view, search, origin, device }: KeptRun) {
  const { question, gold, model, corpus, settings, branch, ledger, finished, turns } = view;
  const answer = turns.at(-1)?.answer;
  const { reason, ms } = finished ?? {};
  return { origin, device, search, question, gold, model, corpus, settings, branch, answer, reason, ms, ledger };
}

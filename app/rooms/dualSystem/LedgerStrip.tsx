/** What the run costs in tokens: System 2's context against the ghost of a run without System 1. */
import { Tooltip } from "@mantine/core";
import type { Ledger } from "../../../src/index";
import { formatCount, formatPercent } from "../../format";
import { strings } from "../../strings";
import classes from "./LedgerStrip.module.css";

const text = strings.dualSystem.ledger;

interface LedgerStripProps {
  ledger: Ledger;
  useSystem1: boolean;
  /** The run is over. */
  over: boolean;
}

export function LedgerStrip({ ledger, useSystem1, over }: LedgerStripProps) {
  const context = ledger.system2ContextTokens;
  const without = ledger.system2ContextWithoutSystem1;
  const scale = Math.max(context, without, 1);
  const saved = 1 - context / scale;
  return (
    <section className={classes.frame} aria-label={text.label}>
      <div className={classes.strip}>
        <div className={classes.headline}>
          {useSystem1 && saved >= 0.005 ? (
            <>
              <span className={classes.percent}>{text.headline(formatPercent(saved))}</span>
              <span className={classes.hint}>{text.headlineHint}</span>
            </>
          ) : (
            <span className={classes.hint}>{noSavingText(ledger, useSystem1, over)}</span>
          )}
        </div>
        <dl className={classes.bars}>
          <Bar label={text.with} tokens={context} scale={scale} />
          <Bar label={text.without} tokens={without} scale={scale} ghost />
        </dl>
        <dl className={classes.figures}>
          <Figure label={text.raw} hint={text.rawHint} value={ledger.rawTokens} lane="tools" />
          <Figure label={text.system1In} hint={text.system1InHint} value={ledger.system1PromptTokens} lane="system1" />
          <Figure
            label={text.system1Out}
            hint={text.system1OutHint}
            value={ledger.system1OutputTokens}
            lane="system1"
          />
          <Figure label={text.calls} hint={text.callsHint} value={ledger.system1Calls} lane="system1" />
          <Figure
            label={text.system2Out}
            hint={text.system2OutHint}
            value={ledger.system2OutputTokens}
            lane="system2"
          />
        </dl>
      </div>
    </section>
  );
}

function noSavingText(ledger: Ledger, useSystem1: boolean, over: boolean): string {
  if (!useSystem1) return text.withOff;
  if (ledger.rawTokens === 0) return text.nothingRead;
  return over ? text.even : text.reading;
}

function Bar({ label, tokens, scale, ghost }: { label: string; tokens: number; scale: number; ghost?: boolean }) {
  return (
    <div className={classes.bar}>
      <dt>{label}</dt>
      <dd>
        <span className={classes.track}>
          <span className={classes.fill} data-ghost={ghost} style={{ width: `${(100 * tokens) / scale}%` }} />
        </span>
        <span className={classes.count}>{text.tokens(formatCount(tokens))}</span>
      </dd>
    </div>
  );
}

function Figure({ label, hint, value, lane }: { label: string; hint: string; value: number; lane: string }) {
  return (
    <Tooltip label={hint} multiline maw={240} openDelay={300}>
      <div className={classes.figure} data-lane={lane}>
        <dt>{label}</dt>
        <dd>{formatCount(value)}</dd>
      </div>
    </Tooltip>
  );
}

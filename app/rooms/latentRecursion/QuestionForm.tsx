/** The question: a chain drawn from a number, or one of the visitor's own. */
import { Button, SegmentedControl } from "@mantine/core";
import { IconPencil, IconSparkles } from "@tabler/icons-react";
import { RELAY_DEALS, type RelayQuestion } from "../../../src/index";
import { LabOnly } from "../../components/LabOnly";
import { NumberField } from "../../components/SettingsGroup";
import { formatPlural } from "../../format";
import { strings } from "../../strings";
import { ChainEditor } from "./ChainEditor";
import type { ControlPanelProps } from "./ControlPanel";
import classes from "./ControlPanel.module.css";
import { DEFAULTS, LIMITS, questionOf, relaySpec, writeChain } from "./search";

const text = strings.latentRecursion.question;

export function QuestionForm({ search, update, busy }: ControlPanelProps) {
  const found = questionOf(relaySpec(search));
  const isOwn = search.chain !== undefined;
  return (
    <div>
      <h2 className={classes.heading}>{text.label}</h2>
      {"question" in found ? (
        <p className={classes.chain}>
          {chainWords(found.question)}{" "}
          <span className={classes.help}>{text.needed(formatPlural(found.question.roundsNeeded, "round"))}</span>
        </p>
      ) : (
        <p className={classes.problem} role="alert">
          {text.problem} {found.problem}
        </p>
      )}
      <div className={classes.fields}>
        {isOwn ? (
          <ChainEditor search={search} update={update} disabled={busy} />
        ) : (
          <>
            <Choice label={text.hops} help={text.hopsHelp}>
              <SegmentedControl
                size="xs"
                aria-label={text.hops}
                data={["1", "2", "3"]}
                value={String(search.hops)}
                disabled={busy}
                onChange={(hops) => update({ hops: Number(hops) })}
              />
            </Choice>
            <Choice label={text.deal} help={text.dealHelp} stacked>
              <SegmentedControl
                size="xs"
                aria-label={text.deal}
                data={RELAY_DEALS.map((deal) => ({ value: deal, label: text.deals[deal] }))}
                value={search.deal}
                disabled={busy}
                onChange={(deal) => update({ deal: deal as typeof search.deal })}
              />
            </Choice>
          </>
        )}
        <LabOnly changed={search.seed !== DEFAULTS.seed}>
          <NumberField
            label={text.seed}
            help={text.seedHelp}
            value={search.seed}
            limits={LIMITS.seed}
            disabled={busy}
            onChange={(seed) => update({ seed })}
          />
        </LabOnly>
        <div className={classes.actions}>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconSparkles size={14} />}
            disabled={busy}
            onClick={() => update({ seed: freshSeed(), chain: undefined, holders: undefined })}
          >
            {text.fresh}
          </Button>
          <LabOnly changed={isOwn}>
            <Button
              size="xs"
              variant="subtle"
              leftSection={<IconPencil size={14} />}
              disabled={busy || !("question" in found)}
              onClick={() => update(isOwn ? { chain: undefined, holders: undefined } : ownOf(found))}
            >
              {isOwn ? text.drawn : text.own}
            </Button>
          </LabOnly>
        </div>
      </div>
    </div>
  );
}

/** A control with its name, and one line on what it does. */
export function Choice({ label, help, stacked, children }: ChoiceProps) {
  return (
    <div className={classes.row} style={stacked ? { gridTemplateColumns: "1fr" } : undefined}>
      <span className={classes.rowLabel}>{label}</span>
      {children}
      <p className={classes.help}>{help}</p>
    </div>
  );
}

interface ChoiceProps {
  label: string;
  help: string;
  /** The control below its name, for want of width. */
  stacked?: boolean;
  children: React.ReactNode;
}

/** "Ada: loves, pays?" */
export function chainWords({ start, verbs }: Pick<RelayQuestion, "start" | "verbs">): string {
  return `${start}: ${verbs.join(", ")}?`;
}

export function freshSeed(): number {
  return 1 + Math.floor(Math.random() * LIMITS.seed.max);
}

/** The drawn chain, to begin one's own with. */
function ownOf(found: ReturnType<typeof questionOf>) {
  if (!("question" in found)) return {};
  return { chain: writeChain(found.question.chain), holders: found.question.holders.join("") };
}

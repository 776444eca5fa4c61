/** How a question is run: rounds, latent steps, what is passed; and the way to start. */
import { Button, SegmentedControl } from "@mantine/core";
import { IconPlayerPlayFilled, IconPlayerStopFilled } from "@tabler/icons-react";
import { LabOnly } from "../../components/LabOnly";
import { RingModels } from "../../components/ModelChoices";
import { NumberField, SettingsGroup, SwitchField } from "../../components/SettingsGroup";
import { useLinks } from "../../stores/linksStore";
import { stopRecursion, useRecursion } from "../../stores/recursionStore";
import { resetRing, useRing } from "../../stores/ringStore";
import { strings } from "../../strings";
import type { ControlPanelProps } from "./ControlPanel";
import classes from "./ControlPanel.module.css";
import { Choice } from "./QuestionForm";
import { changedSettings, DEFAULTS, LIMITS, needsSet } from "./search";

const text = strings.latentRecursion.run;
const PASSINGS = ["latent", "text", "alone"] as const;

export function RunForm({ search, update, busy, onRun }: ControlPanelProps) {
  const set = useLinks(({ sets }) => sets[search.links]);
  const ownAgents = Object.values(useRing()).filter((model) => model !== undefined).length;
  const trainedSteps = needsSet(search) ? set?.latentSteps : undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy) onRun?.(false);
      }}
    >
      <div className={classes.fields}>
        <NumberField
          label={text.rounds}
          help={text.roundsHelp}
          value={search.rounds}
          limits={LIMITS.rounds}
          disabled={busy}
          onChange={(rounds) => update({ rounds })}
        />
        <LabOnly changed={search.steps !== DEFAULTS.steps}>
          <NumberField
            label={text.steps}
            help={`${text.stepsHelp}${trainedSteps === undefined ? "" : ` ${text.trainedSteps(trainedSteps)}`}`}
            value={search.steps}
            limits={LIMITS.steps}
            disabled={busy || search.passing !== "latent"}
            onChange={(steps) => update({ steps })}
          />
        </LabOnly>
        <Choice label={text.passing} help={text.passingHelp}>
          <SegmentedControl
            size="xs"
            aria-label={text.passing}
            data={PASSINGS.map((value) => ({ value, label: text.passings[value] }))}
            value={search.passing}
            disabled={busy}
            onChange={(passing) => update({ passing: passing as typeof search.passing })}
          />
        </Choice>
        <div className={classes.actions}>
          {busy ? (
            <StopButton />
          ) : (
            <>
              <Button type="submit" disabled={!onRun} leftSection={<IconPlayerPlayFilled size={14} />}>
                {text.start}
              </Button>
              <Button variant="default" disabled={!onRun} title={text.compareHint} onClick={() => onRun?.(true)}>
                {text.compare}
              </Button>
            </>
          )}
        </div>
        <SettingsGroup
          title={strings.settings.title}
          changed={changedSettings(search) + ownAgents}
          disabled={busy}
          onReset={() => {
            const { temperature, sampling, peeks } = DEFAULTS;
            resetRing();
            update({ temperature, sampling, peeks });
          }}
        >
          <RingModels disabled={busy} />
          <SwitchField {...text.peeks} checked={search.peeks} disabled={busy} onChange={(peeks) => update({ peeks })} />
          <NumberField
            {...text.temperature}
            value={search.temperature}
            limits={LIMITS.temperature}
            disabled={busy}
            onChange={(temperature) => update({ temperature })}
          />
          <NumberField
            {...text.sampling}
            value={search.sampling}
            limits={LIMITS.sampling}
            disabled={busy}
            onChange={(sampling) => update({ sampling })}
          />
        </SettingsGroup>
      </div>
    </form>
  );
}

function StopButton() {
  const stopping = useRecursion(({ phase }) => phase === "stopping");
  return (
    <Button
      variant="default"
      disabled={stopping}
      leftSection={<IconPlayerStopFilled size={14} />}
      onClick={stopRecursion}
    >
      {stopping ? text.stopping : text.stop}
    </Button>
  );
}

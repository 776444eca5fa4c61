/** Through which links thoughts pass: trained ones of a set, or an untrained stand-in, inner and outer apart. */
import { Button, NativeSelect } from "@mantine/core";
import { IconFolderOpen } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { type LinkChoice, TAPE_CHOICES } from "../../../src/index";
import { FilePicker } from "../../components/FilePicker";
import { LabOnly } from "../../components/LabOnly";
import { openLinkFile, useLinks } from "../../stores/linksStore";
import { misfitOf, useLacksTape, useRingAgents } from "../../stores/ringStore";
import { strings } from "../../strings";
import type { ControlPanelProps } from "./ControlPanel";
import classes from "./ControlPanel.module.css";
import { DEFAULTS, INNER_CHOICES, LINK_SETS, type LinkSetId, needsSet, OUTER_CHOICES } from "./search";

const text = strings.latentRecursion.links;

export function LinksForm({ search, update, busy }: ControlPanelProps) {
  const { sets } = useLinks();
  const lacks = useLacksTape();
  const ring = useRingAgents();
  const set = sets[search.links];
  const misfit = set && needsSet(search) && misfitOf(set, ring);
  const setLabel = (id: LinkSetId) => {
    const own = sets[id];
    if (!own) return `${text.sets[id]} (${text.missing[id]})`;
    return misfitOf(own, ring) ? `${text.sets[id]} (${text.misfit})` : text.sets[id];
  };
  const optionOf = (value: LinkChoice) => {
    const isMissing = lacks && TAPE_CHOICES.includes(value);
    const label = text.choices[value];
    return { value, label: isMissing ? `${label} (${strings.engines.needs.option})` : label, disabled: isMissing };
  };
  const disabled = busy || search.passing !== "latent";
  return (
    <div>
      <h2 className={classes.heading}>{text.label}</h2>
      <div className={classes.fields}>
        <LabOnly changed={search.links !== DEFAULTS.links}>
          <NativeSelect
            size="xs"
            label={text.set}
            disabled={disabled}
            value={search.links}
            data={LINK_SETS.map((id) => ({ value: id, label: setLabel(id) }))}
            onChange={(event) => update({ links: event.currentTarget.value as typeof search.links })}
          />
        </LabOnly>
        <LabOnly changed={search.inner !== DEFAULTS.inner}>
          <NativeSelect
            size="xs"
            label={text.inner}
            disabled={disabled}
            value={search.inner}
            data={INNER_CHOICES.map(optionOf)}
            onChange={(event) => update({ inner: event.currentTarget.value as typeof search.inner })}
          />
        </LabOnly>
        <NativeSelect
          size="xs"
          label={text.outer}
          description={text.help}
          inputWrapperOrder={["label", "input", "description"]}
          disabled={disabled}
          value={search.outer}
          data={OUTER_CHOICES.map(optionOf)}
          onChange={(event) => update({ outer: event.currentTarget.value as typeof search.outer })}
        />
        {misfit && (
          <p className={classes.problem} role="alert">
            {text.misfitHelp(misfit.agent.role, misfit.agent.model, misfit.width ?? 0, misfit.wanted)}
          </p>
        )}
        <div className={classes.actions}>
          <LabOnly>
            <FilePicker
              accept=".safetensors"
              onFile={async (file) => {
                const bytes = new Uint8Array(await file.arrayBuffer());
                if (await openLinkFile({ name: file.name, bytes })) update({ links: "opened" });
              }}
            >
              {(open) => (
                <Button
                  size="xs"
                  variant="default"
                  disabled={busy}
                  leftSection={<IconFolderOpen size={14} />}
                  onClick={open}
                >
                  {text.open}
                </Button>
              )}
            </FilePicker>
          </LabOnly>
          <Button size="xs" variant="subtle" component={Link} to="/link-training">
            {text.train}
          </Button>
        </div>
      </div>
    </div>
  );
}

/** Through which links thoughts pass: trained ones of a set, or an untrained stand-in, inner and outer apart. */
import { Button, NativeSelect } from "@mantine/core";
import { IconFolderOpen } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { type LinkChoice, TAPE_CHOICES } from "../../../src/index";
import { FilePicker } from "../../components/FilePicker";
import { lacksGradients, useEngine } from "../../stores/engineStore";
import { openLinkFile, useLinks } from "../../stores/linksStore";
import { strings } from "../../strings";
import type { ControlPanelProps } from "./ControlPanel";
import classes from "./ControlPanel.module.css";
import { INNER_CHOICES, LINK_SETS, OUTER_CHOICES } from "./search";

const text = strings.latentRecursion.links;

export function LinksForm({ search, update, busy }: ControlPanelProps) {
  const { sets } = useLinks();
  const lacks = useEngine(lacksGradients);
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
        <NativeSelect
          size="xs"
          label={text.set}
          disabled={disabled}
          value={search.links}
          data={LINK_SETS.map((id) => ({
            value: id,
            label: sets[id] ? text.sets[id] : `${text.sets[id]} (${text.missing[id]})`,
          }))}
          onChange={(event) => update({ links: event.currentTarget.value as typeof search.links })}
        />
        <NativeSelect
          size="xs"
          label={text.inner}
          disabled={disabled}
          value={search.inner}
          data={INNER_CHOICES.map(optionOf)}
          onChange={(event) => update({ inner: event.currentTarget.value as typeof search.inner })}
        />
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
        <div className={classes.actions}>
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
          <Button size="xs" variant="subtle" component={Link} to="/link-training">
            {text.train}
          </Button>
        </div>
      </div>
    </div>
  );
}

/** Which loaded model plays which part, once there is more to choose from than what the page brings. */
import { NativeSelect } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { RELAY_MODELS, RELAY_RING, RESEARCH_AGENT } from "../models";
import { useEngine } from "../stores/engineStore";
import { useRing } from "../stores/ringStore";
import { useSystems } from "../stores/systemsStore";
import { strings } from "../strings";
import classes from "./ModelChoices.module.css";

const text = strings.models.parts;

/** Of the dual-system run. */
export function SystemModels({ disabled }: { disabled: boolean }) {
  const chosen = useSystems();
  return (
    <ModelChoices
      disabled={disabled}
      help={text.systemsHelp}
      parts={(["system2", "system1"] as const).map((system) => ({
        label: text[system],
        shipped: RESEARCH_AGENT,
        chosen: chosen[system],
        onChoose: (id) => useSystems.setState({ [system]: id }),
      }))}
    />
  );
}

/** Of the ring. */
export function RingModels({ disabled }: { disabled: boolean }) {
  const chosen = useRing();
  return (
    <ModelChoices
      latent
      disabled={disabled}
      help={text.ringHelp}
      parts={RELAY_RING.map(({ id, role, model }) => ({
        label: text.agent(role),
        shipped: model,
        chosen: chosen[id],
        onChoose: (own) => useRing.setState({ [id]: own }),
      }))}
    />
  );
}

interface Part {
  label: string;
  /** Id of the model that the page brings for it. */
  shipped: string;
  /** Id of the model that the visitor gave it. */
  chosen: string | undefined;
  onChoose: (id: string | undefined) => void;
}

interface ModelChoicesProps {
  parts: readonly Part[];
  help: string;
  disabled: boolean;
  /** Latent thoughts have to pass through the models. */
  latent?: boolean;
}

function ModelChoices({ parts, help, disabled, latent = false }: ModelChoicesProps) {
  const models = useEngine((state) => state.models);
  // What the page brings knows its own part only.
  const own = models.filter(({ id }) => id !== RESEARCH_AGENT && !RELAY_MODELS.includes(id));
  if (own.length === 0) {
    return (
      <p className={classes.none}>
        {text.none} <Link to="/models">{strings.rooms.models.title}</Link>
      </p>
    );
  }
  const options = own.map((model) => {
    const isTextOnly = latent && !model.latent;
    const textOnly = model.isExport ? text.exportOnly : text.textOnly;
    return { value: model.id, label: isTextOnly ? textOnly(model.id) : model.id, disabled: isTextOnly };
  });
  return (
    <div className={classes.parts}>
      {parts.map(({ label, shipped, chosen, onChoose }) => (
        <NativeSelect
          key={label}
          size="xs"
          label={label}
          data={[{ value: "", label: text.shipped(shipped) }, ...options]}
          value={options.some(({ value, disabled: no }) => !no && value === chosen) ? chosen : ""}
          disabled={disabled}
          onChange={(event) => onChoose(event.currentTarget.value || undefined)}
        />
      ))}
      <p>{help}</p>
    </div>
  );
}

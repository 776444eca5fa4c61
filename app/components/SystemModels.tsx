/** Which model is System 1 and which is System 2, once there is more than the shipped agent to choose from. */
import { NativeSelect } from "@mantine/core";
import { RELAY_MODELS, RESEARCH_AGENT } from "../models";
import { useEngine } from "../stores/engineStore";
import { useSystems } from "../stores/systemsStore";
import { strings } from "../strings";
import classes from "./SystemModels.module.css";

const text = strings.models.systems;

export function SystemModels({ disabled }: { disabled: boolean }) {
  const chosen = useSystems();
  const models = useEngine((state) => state.models);
  // The ring's agents know nothing of research.
  const own = models.map(({ id }) => id).filter((id) => id !== RESEARCH_AGENT && !RELAY_MODELS.includes(id));
  if (own.length === 0) return null;
  const data = [{ value: "", label: text.shipped(RESEARCH_AGENT) }, ...own];
  return (
    <div className={classes.systems}>
      {(["system2", "system1"] as const).map((system) => {
        const id = chosen[system];
        return (
          <NativeSelect
            key={system}
            size="xs"
            label={text[system]}
            data={data}
            value={id !== undefined && own.includes(id) ? id : ""}
            disabled={disabled}
            onChange={(event) => useSystems.setState({ [system]: event.currentTarget.value || undefined })}
          />
        );
      })}
      <p>{text.help}</p>
    </div>
  );
}

/** The settings of a run; each lives in the URL, works by keyboard, and says in one line what it does. */
import { NativeSelect } from "@mantine/core";
import { PACKING_ALGORITHMS } from "../../../src/index";
import { SystemModels } from "../../components/ModelChoices";
import { NumberField, SettingsGroup, SwitchField } from "../../components/SettingsGroup";
import { strings } from "../../strings";
import classes from "./CorpusPanel.module.css";
import { changedSettings, DEFAULTS, LIMITS, type RoomSearch } from "./search";

const text = strings.dualSystem.settings;
const NUMBERS = ["capacity", "parallel", "results", "turns", "temperature", "seed"] as const;

interface SettingsFormProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  disabled: boolean;
}

export function SettingsForm({ search, update, disabled }: SettingsFormProps) {
  const reset = () => {
    const { system1, results, turns, temperature, seed, packing } = DEFAULTS;
    update({ system1, results, turns, temperature, seed, packing, capacity: undefined, parallel: undefined });
  };
  return (
    <SettingsGroup title={strings.settings.title} changed={changedSettings(search)} disabled={disabled} onReset={reset}>
      <SystemModels disabled={disabled} />
      <SwitchField
        {...text.system1}
        checked={search.system1}
        disabled={disabled}
        onChange={(system1) => update({ system1 })}
      />
      {NUMBERS.map((key) => (
        <NumberField
          key={key}
          label={text[key].label}
          help={text[key].help}
          value={search[key]}
          limits={LIMITS[key]}
          disabled={disabled}
          {...(key === "capacity" && { emptyMeans: text.automatic })}
          {...(key === "parallel" && { emptyMeans: text.parallel.all })}
          onChange={(value) => update({ [key]: value })}
        />
      ))}
      <NativeSelect
        size="xs"
        label={text.packing.label}
        description={text.packing.help}
        classNames={{ root: classes.select, label: classes.fieldLabel, description: classes.fieldHelp }}
        inputWrapperOrder={["label", "input", "description"]}
        data={PACKING_ALGORITHMS.map((value) => ({ value, label: text.packing.algorithms[value] }))}
        value={search.packing}
        disabled={disabled}
        onChange={(event) => update({ packing: event.currentTarget.value as RoomSearch["packing"] })}
      />
    </SettingsGroup>
  );
}

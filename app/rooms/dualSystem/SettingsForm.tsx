/** The settings of a run; each lives in the URL, works by keyboard, and says in one line what it does. */
import { NumberField, SettingsGroup, SwitchField } from "../../components/SettingsGroup";
import { strings } from "../../strings";
import { changedSettings, DEFAULTS, LIMITS, type RoomSearch } from "./search";

const text = strings.dualSystem.settings;
const NUMBERS = ["capacity", "results", "turns", "temperature", "seed"] as const;

interface SettingsFormProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  disabled: boolean;
}

export function SettingsForm({ search, update, disabled }: SettingsFormProps) {
  const reset = () => {
    const { world: _, ...settings } = DEFAULTS;
    update({ ...settings, capacity: undefined });
  };
  return (
    <SettingsGroup title={strings.settings.title} changed={changedSettings(search)} disabled={disabled} onReset={reset}>
      <SwitchField
        {...text.system1}
        checked={search.system1}
        disabled={disabled}
        onChange={(system1) => update({ system1 })}
      />
      {NUMBERS.map((key) => (
        <NumberField
          key={key}
          {...text[key]}
          value={search[key]}
          limits={LIMITS[key]}
          disabled={disabled}
          {...(key === "capacity" && { emptyMeans: text.automatic })}
          onChange={(value) => update({ [key]: value })}
        />
      ))}
    </SettingsGroup>
  );
}

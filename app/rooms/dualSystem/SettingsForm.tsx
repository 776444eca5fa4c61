/** The settings of a run; each lives in the URL, works by keyboard, and says in one line what it does. */
import { Button, Collapse, NumberInput, Switch } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown } from "@tabler/icons-react";
import { strings } from "../../strings";
import classes from "./SettingsForm.module.css";
import { changedSettings, DEFAULTS, LIMITS, type RoomSearch } from "./search";

const text = strings.settings;
const NUMBERS = ["capacity", "results", "turns", "temperature", "seed"] as const;

interface SettingsFormProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  disabled: boolean;
}

export function SettingsForm({ search, update, disabled }: SettingsFormProps) {
  const changed = changedSettings(search);
  const [open, { toggle }] = useDisclosure(changed > 0);
  return (
    <div>
      <button type="button" className={classes.toggle} aria-expanded={open} onClick={toggle}>
        {strings.ask.settings}
        {changed > 0 && <span className={classes.changed}>{strings.ask.changed(changed)}</span>}
        <IconChevronDown className={classes.chevron} size={16} aria-hidden />
      </button>
      <Collapse expanded={open}>
        <div className={classes.fields}>
          <Switch
            label={text.system1.label}
            description={text.system1.help}
            labelPosition="left"
            classNames={{ body: classes.switch, label: classes.label }}
            checked={search.system1}
            disabled={disabled}
            onChange={(event) => update({ system1: event.currentTarget.checked })}
          />
          {NUMBERS.map((key) => (
            <NumberInput
              key={key}
              size="xs"
              label={text[key].label}
              description={text[key].help}
              classNames={{ root: classes.number, label: classes.label, description: classes.help }}
              inputWrapperOrder={["label", "input", "description"]}
              value={search[key] ?? ""}
              placeholder={key === "capacity" ? text.automatic : undefined}
              min={LIMITS[key].min}
              max={LIMITS[key].max}
              step={LIMITS[key].step}
              decimalScale={key === "temperature" ? 2 : 0}
              clampBehavior="blur"
              disabled={disabled}
              onChange={(value) => {
                // Half-typed values stay in the field until they are numbers within the limits.
                const { min, max } = LIMITS[key];
                if (key === "capacity" && value === "") update({ capacity: undefined });
                if (typeof value === "number" && value >= min && value <= max) update({ [key]: value });
              }}
            />
          ))}
          {changed > 0 && (
            <Button
              variant="default"
              size="xs"
              disabled={disabled}
              onClick={() => {
                const { world: _, ...settings } = DEFAULTS;
                update({ ...settings, capacity: undefined });
              }}
            >
              {strings.ask.reset}
            </Button>
          )}
        </div>
      </Collapse>
    </div>
  );
}

/** Settings behind one line that says how many were changed; each lives in the URL and says what it does. */
import { Button, Collapse, NumberInput, Switch } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { strings } from "../strings";
import { useInLab } from "./depth";
import classes from "./SettingsGroup.module.css";

const text = strings.settings;

interface SettingsGroupProps {
  title: string;
  /** Settings that differ from their defaults; with any the group starts open. */
  changed: number;
  disabled: boolean;
  onReset: () => void;
  children: ReactNode;
}

export function SettingsGroup({ title, changed, disabled, onReset, children }: SettingsGroupProps) {
  const [open, { toggle }] = useDisclosure(changed > 0);
  // What a link changed is shown to everyone; the rest is for those who came to change it.
  if (!useInLab() && changed === 0) return null;
  return (
    <div>
      <button type="button" className={classes.toggle} aria-expanded={open} onClick={toggle}>
        {title}
        {changed > 0 && <span className={classes.changed}>{text.changed(changed)}</span>}
        <IconChevronDown className={classes.chevron} size={16} aria-hidden />
      </button>
      <Collapse expanded={open}>
        <div className={classes.fields}>
          {children}
          {changed > 0 && (
            <Button variant="default" size="xs" disabled={disabled} onClick={onReset}>
              {text.reset}
            </Button>
          )}
        </div>
      </Collapse>
    </div>
  );
}

export interface NumberLimits {
  min: number;
  max: number;
  step: number;
  /** Digits after the point. Default 0. */
  decimals?: number;
}

interface NumberFieldProps {
  label: string;
  /** One line on what it does. */
  help: string;
  value: number | undefined;
  limits: NumberLimits;
  disabled: boolean;
  /** What an empty field stands for; without it a number is wanted. */
  emptyMeans?: string;
  onChange: (value: number | undefined) => void;
}

export function NumberField({ label, help, value, limits, disabled, emptyMeans, onChange }: NumberFieldProps) {
  const { min, max, step, decimals = 0 } = limits;
  return (
    <NumberInput
      size="xs"
      label={label}
      description={help || undefined}
      classNames={{ root: classes.number, label: classes.label, description: classes.help }}
      inputWrapperOrder={["label", "input", "description"]}
      value={value ?? ""}
      placeholder={emptyMeans}
      min={min}
      max={max}
      step={step}
      decimalScale={decimals}
      clampBehavior="blur"
      disabled={disabled}
      onChange={(next) => {
        // Half-typed values stay in the field until they are numbers within the limits.
        if (emptyMeans !== undefined && next === "") onChange(undefined);
        if (typeof next === "number" && next >= min && next <= max) onChange(next);
      }}
    />
  );
}

interface SwitchFieldProps {
  label: string;
  help: string;
  checked: boolean;
  disabled: boolean;
  onChange: (checked: boolean) => void;
}

export function SwitchField({ label, help, checked, disabled, onChange }: SwitchFieldProps) {
  return (
    <Switch
      label={label}
      description={help}
      labelPosition="left"
      classNames={{ body: classes.switch, label: classes.label }}
      checked={checked}
      disabled={disabled}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}

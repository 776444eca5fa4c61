/** Which engine the models run on, and why; the choice is part of the address. */
import { ActionIcon, Popover, Radio, Stack } from "@mantine/core";
import { IconAdjustments } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { ENGINE_CHOICES, type EngineChoice } from "../../src/worker/loadProtocol";
import { useEngine } from "../stores/engineStore";
import { useJob } from "../stores/jobStore";
import { strings } from "../strings";
import classes from "./EngineMenu.module.css";

const text = strings.engines;

/** Puts a choice into the address, from where the engine takes it. */
export function useEngineChoice(): (choice: EngineChoice) => void {
  const navigate = useNavigate();
  return (choice) => {
    const engine = choice === "auto" ? undefined : choice;
    void navigate({ to: ".", search: (previous) => ({ ...previous, engine }), replace: true, resetScroll: false });
  };
}

export function EngineMenu() {
  const { choice, auto } = useEngine();
  const busy = useJob(({ job }) => job !== undefined);
  const choose = useEngineChoice();
  return (
    <Popover position="bottom-end" width={340} shadow="md" trapFocus withinPortal>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={26}
          className={classes.open}
          aria-label={text.open}
          title={text.open}
        >
          <IconAdjustments size={16} aria-hidden />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Radio.Group label={text.title} value={choice} onChange={(value) => choose(value as EngineChoice)}>
          <Stack gap={10} mt={10}>
            {ENGINE_CHOICES.map((value) => (
              <Radio
                key={value}
                value={value}
                size="xs"
                label={text.choices[value].name}
                description={text.choices[value].help}
                disabled={busy}
              />
            ))}
          </Stack>
        </Radio.Group>
        <div className={classes.notes}>
          {choice === "auto" && auto && (
            <p>
              {text.came(text.choices[auto.engine].name)}
              {auto.problem && ` ${capital(text.because(auto.problem.kind))}.`}
            </p>
          )}
          {choice === "auto" && auto?.problem && (
            <details>
              <summary>{text.details}</summary>
              <code>{auto.problem.detail}</code>
            </details>
          )}
          <p>{busy ? text.busy : text.linkHint}</p>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

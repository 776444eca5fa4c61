/** Product name, the engine's line, how deep the page goes, its keys, and the colour scheme. */
import { ActionIcon, Tooltip, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { IconMoon, IconSun } from "@tabler/icons-react";
import { strings } from "../strings";
import { DepthSwitch } from "./DepthSwitch";
import { EngineLine } from "./EngineLine";
import classes from "./Header.module.css";
import { KeySheet } from "./KeySheet";
import { useRooms } from "./RoomNav";

export function Header() {
  return (
    <header className={classes.header}>
      <div className={classes.brand}>
        <Logo />
        <span className={classes.name}>{strings.product}</span>
        <span className={classes.tagline}>{strings.tagline}</span>
      </div>
      <EngineLine />
      <DepthSwitch />
      <KeySheet rooms={useRooms().length} />
      <SchemeSwitch />
    </header>
  );
}

/** Two loops that share one crossing: the two systems. */
function Logo() {
  return (
    <svg viewBox="0 0 32 20" width="34" height="21" fill="none" strokeWidth="3.6" strokeLinecap="round" aria-hidden>
      <path stroke="var(--system2)" d="M16 10c3-4.5 5.2-7 8.5-7a7 7 0 0 1 0 14c-3.3 0-5.5-2.5-8.5-7" />
      <path stroke="var(--system1)" d="M16 10c-3 4.5-5.2 7-8.5 7a7 7 0 0 1 0-14c3.3 0 5.5 2.5 8.5 7" />
    </svg>
  );
}

function SchemeSwitch() {
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme("light") === "dark";
  const label = dark ? strings.lightScheme : strings.darkScheme;
  return (
    <Tooltip label={label} openDelay={400}>
      <ActionIcon
        className={classes.scheme}
        variant="default"
        size={34}
        aria-label={label}
        onClick={() => setColorScheme(dark ? "light" : "dark")}
      >
        {dark ? <IconSun size={18} /> : <IconMoon size={18} />}
      </ActionIcon>
    </Tooltip>
  );
}

/** Takes changes of any room's settings back and puts them on again; says which, as they may be out of sight. */
import { useLocation, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useKeys } from "../keys";
import { useJob } from "../stores/jobStore";
import { strings } from "../strings";
import classes from "./SettingsUndo.module.css";
import {
  changedKeys,
  record,
  redone,
  type Settings,
  type SettingsHistory,
  settingsOf,
  undone,
  withSettings,
} from "./settingsHistory";

const text = strings.settings;
const SHOWN_MS = 4_000;

export function SettingsUndo() {
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  // Settings of what is being computed stay as they are.
  const busy = useJob(({ job }) => job !== undefined);
  /** By the room's path. */
  const [histories, setHistories] = useState<Readonly<Record<string, SettingsHistory>>>({});
  useEffect(() => {
    const settings = settingsOf(search as Settings);
    const at = performance.now();
    setHistories((all) => {
      const history = record(all[pathname], settings, at);
      return history === all[pathname] ? all : { ...all, [pathname]: history };
    });
  }, [pathname, search]);

  const [note, setNote] = useState<string>();
  useEffect(() => {
    if (note === undefined) return;
    const timer = setTimeout(() => setNote(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [note]);

  const history = histories[pathname];
  const go = (next: SettingsHistory | undefined, words: (names: string) => string) => {
    if (busy || !history || !next) return undefined;
    return () => {
      setHistories((all) => ({ ...all, [pathname]: next }));
      setNote(words(changedKeys(history.now, next.now).join(", ")));
      const changed = withSettings(search as Settings, next.now);
      void navigate({ to: pathname, search: changed, replace: true, resetScroll: false });
    };
  };
  useKeys({
    undoSettings: go(history && undone(history), text.undone),
    redoSettings: go(history && redone(history), text.redone),
  });
  return (
    <p className={classes.note} role="status" data-shown={note !== undefined}>
      {note}
    </p>
  );
}

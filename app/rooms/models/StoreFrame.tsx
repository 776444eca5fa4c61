/** Checkpoints that stay in this browser: what they take, opening and deleting them, and what the browser promises. */
import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import type { EngineProblem } from "../../../src/worker/protocol";
import { ErrorText } from "../../components/ErrorCard";
import { Frame } from "../../components/Frame";
import { useConfirm } from "../../components/useConfirm";
import { formatBytes } from "../../format";
import { deleteKept, openKept, refreshStore, useLibrary } from "../../stores/libraryStore";
import { strings } from "../../strings";
import classes from "./StoreFrame.module.css";

const text = strings.models.store;

export function StoreFrame() {
  const { store, phase } = useLibrary();
  const [problem, setProblem] = useState<EngineProblem>();
  const [refused, setRefused] = useState(false);
  const [confirm, dialog] = useConfirm(text.confirmYes, text.confirmNo);
  useEffect(() => {
    void refreshStore();
  }, []);
  const busy = phase !== "idle";
  const remove = async (key: string, name: string, bytes: number) => {
    if (!(await confirm(text.confirmTitle(name), text.confirmBody(formatBytes(bytes))))) return;
    setProblem(await deleteKept(key));
  };
  // Only the page itself can ask, not its workers.
  const persist = async () => {
    setRefused(!(await navigator.storage.persist()));
    await refreshStore();
  };
  if (!store) return null;
  return (
    <Frame title={text.title} hint={text.hint}>
      {store.unavailable !== undefined && (
        <p className={classes.line}>
          {text.unavailable}: {store.unavailable}
        </p>
      )}
      {store.checkpoints.length === 0 && store.unavailable === undefined && <p className={classes.line}>{text.none}</p>}
      <ul className={classes.list}>
        {store.checkpoints.map(({ key, name, bytes, wantedBytes, problem: wrong, savedAt, origin }) => (
          <li key={key}>
            <div>
              <h3>{name}</h3>
              <p>
                {wrong === undefined
                  ? formatBytes(bytes)
                  : text.incomplete(formatBytes(bytes), formatBytes(wantedBytes))}
                {savedAt !== undefined && <span>{text.savedAt(dateOf(savedAt))}</span>}
                {origin?.kind === "hub" && <span>{origin.commit.slice(0, 8)}</span>}
                {wrong !== undefined && <span>{wrong}</span>}
              </p>
            </div>
            <div className={classes.buttons}>
              {wrong === undefined && (
                <Button
                  size="compact-xs"
                  variant="default"
                  disabled={busy}
                  aria-label={text.open(name)}
                  onClick={() => void openKept(key)}
                >
                  {text.openShort}
                </Button>
              )}
              <Button
                size="compact-xs"
                variant="default"
                disabled={busy}
                aria-label={text.delete(name)}
                onClick={() => void remove(key, name, bytes)}
              >
                {text.deleteShort}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      {problem && (
        <ErrorText
          what={text.deleteFailed}
          why={problem.detail}
          todo={strings.models.checkpoint.todo.other}
          detail={problem.detail}
        />
      )}
      <div className={classes.quota}>
        {store.usage !== undefined && store.quota !== undefined && (
          <span>{text.usage(formatBytes(store.usage), formatBytes(store.quota))}</span>
        )}
        {store.persisted !== undefined && (
          <span>
            {refused && !store.persisted ? text.refused : store.persisted ? text.persisted : text.notPersisted}
          </span>
        )}
        {store.persisted === false && !refused && (
          <Button size="compact-xs" variant="default" onClick={() => void persist()}>
            {text.persist}
          </Button>
        )}
      </div>
      {dialog}
    </Frame>
  );
}

const dateOf = (time: number) => new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

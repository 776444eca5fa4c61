/** The visitor's own documents: dropped or chosen, read with progress, listed with what was skipped and why. */
import { ActionIcon, Button, Progress } from "@mantine/core";
import { IconFiles, IconFolderOpen, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { CORPUS_ENDINGS } from "../../../src/index";
import { ErrorCard } from "../../components/ErrorCard";
import { FilePicker } from "../../components/FilePicker";
import { droppedFiles, type PickedFiles, pickedFiles } from "../../engine/droppedFiles";
import { formatBytes, formatCount, formatPlural } from "../../format";
import { RESEARCH_AGENT } from "../../models";
import { addDocuments, cancelReading, removeDocuments, useDocuments } from "../../stores/documentsStore";
import { strings } from "../../strings";
import classes from "./OwnDocuments.module.css";
import type { RoomSearch } from "./search";

const text = strings.dualSystem.own;

interface OwnDocumentsProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  disabled: boolean;
}

export function OwnDocuments({ search, update, disabled }: OwnDocumentsProps) {
  const { corpus, phase, problem } = useDocuments();
  const busy = phase !== "idle";
  const [over, setOver] = useState(false);
  const add = (picked: PickedFiles) => void addDocuments(picked, RESEARCH_AGENT, search.capacity);
  const empty = corpus.files.length + corpus.skipped.length === 0;
  const locked = disabled || busy;
  const sample = async () => {
    const { sampleDocuments } = await import("./sampleDocuments");
    const { files, question } = sampleDocuments(search.world);
    add({ files, hidden: 0 });
    update({ q: question });
  };
  return (
    <div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is a second way; the buttons inside are the first. */}
      <div
        className={classes.drop}
        data-over={over && !locked}
        data-testid="drop"
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          if (!locked) void droppedFiles(event.dataTransfer).then(add);
        }}
      >
        <span className={classes.hint}>{text.drop}</span>
        <div className={classes.buttons}>
          <FilePicker accept={CORPUS_ENDINGS.join()} onFiles={(files) => add(pickedFiles(files))}>
            {(open) => (
              <Button
                size="xs"
                variant="default"
                leftSection={<IconFiles size={14} />}
                disabled={locked}
                onClick={open}
              >
                {text.files}
              </Button>
            )}
          </FilePicker>
          <FilePicker folder onFiles={(files) => add(pickedFiles(files))}>
            {(open) => (
              <Button
                size="xs"
                variant="default"
                leftSection={<IconFolderOpen size={14} />}
                disabled={locked}
                onClick={open}
              >
                {text.folder}
              </Button>
            )}
          </FilePicker>
          {empty && (
            <Button size="xs" variant="subtle" disabled={locked} onClick={() => void sample()}>
              {text.sample}
            </Button>
          )}
        </div>
        <span className={classes.formats}>{text.formats}</span>
      </div>
      {busy && <Reading />}
      {problem && <ErrorCard problem={problem} />}
      <Ending />
      {!empty && <FileList disabled={locked} />}
    </div>
  );
}

function Reading() {
  const { phase, progress } = useDocuments();
  const { done = 0, total = 0, name, passages = 0 } = progress ?? {};
  return (
    <div className={classes.reading} role="status">
      <span>{phase === "waiting" ? text.waiting : text.reading(formatCount(done), formatCount(total))}</span>
      <Button size="compact-xs" variant="default" onClick={cancelReading}>
        {text.cancel}
      </Button>
      <Progress
        className={classes.bar}
        size="sm"
        value={total === 0 ? 0 : (100 * done) / total}
        aria-label={text.progress}
      />
      {name && <span className={classes.now}>{text.now(name, formatPlural(passages, "passage"))}</span>}
    </div>
  );
}

function Ending() {
  const { phase, ended, corpus, hidden } = useDocuments();
  if (phase !== "idle") return null;
  const { files, skipped, passages, maxTokens } = corpus;
  const read = files.length + skipped.length > 0;
  return (
    <p className={classes.summary} role="status">
      {ended === "cancelled" && `${text.cancelled} `}
      {read && text.summary(formatPlural(files.length, "file"), formatPlural(passages, "passage"), maxTokens)}
      {hidden > 0 && ` ${text.hidden(formatCount(hidden))}`}
    </p>
  );
}

/** Files that are listed before the rest is folded away. */
const LISTED = 200;

function FileList({ disabled }: { disabled: boolean }) {
  const { files, skipped } = useDocuments(({ corpus }) => corpus);
  return (
    <>
      {skipped.length > 0 && (
        <details className={classes.group} open>
          <summary>{text.skipped(formatPlural(skipped.length, "file"))}</summary>
          <ul className={classes.list}>
            {skipped.slice(0, LISTED).map(({ name, reason }) => (
              <li key={name} className={classes.file}>
                <span className={classes.name} title={name}>
                  {name}
                </span>
                <span className={classes.reason}>{reason}</span>
              </li>
            ))}
          </ul>
          {skipped.length > LISTED && <p className={classes.more}>{text.more(skipped.length - LISTED)}</p>}
        </details>
      )}
      {files.length > 0 && (
        <details className={classes.group}>
          <summary>{text.read(formatPlural(files.length, "file"))}</summary>
          <ul className={classes.list}>
            {files.slice(0, LISTED).map(({ name, kind, bytes, passages, warnings }) => (
              <li key={name} className={classes.file}>
                <span className={classes.name} title={name}>
                  {name}
                </span>
                <ActionIcon
                  size={20}
                  variant="subtle"
                  color="gray"
                  disabled={disabled}
                  aria-label={text.remove(name)}
                  title={text.remove(name)}
                  onClick={() => void removeDocuments(name)}
                >
                  <IconX size={12} />
                </ActionIcon>
                <span className={classes.reason}>
                  {text.kinds[kind as keyof typeof text.kinds] ?? kind}, {formatBytes(bytes)},{" "}
                  {formatPlural(passages, "passage")}
                  {warnings.map((warning) => `; ${warning}`)}
                </span>
              </li>
            ))}
          </ul>
          {files.length > LISTED && <p className={classes.more}>{text.more(files.length - LISTED)}</p>}
        </details>
      )}
      <Button size="compact-xs" variant="subtle" disabled={disabled} onClick={() => void removeDocuments()}>
        {text.removeAll}
      </Button>
    </>
  );
}

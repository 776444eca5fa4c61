/** Links and runs as files: saved, opened by button or by dropping them, used elsewhere. */
import { Button } from "@mantine/core";
import { IconDownload, IconFolderOpen, IconRefreshDot } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { EngineProblem } from "../../../src/worker/protocol";
import { download } from "../../components/download";
import { ErrorCard } from "../../components/ErrorCard";
import { FilePicker } from "../../components/FilePicker";
import { Frame } from "../../components/Frame";
import { formatCount, formatParameters } from "../../format";
import { useLinks } from "../../stores/linksStore";
import { exportTraining, importTraining, isWorking, useTraining } from "../../stores/trainingStore";
import { strings } from "../../strings";
import classes from "./Files.module.css";

const text = strings.linkTraining.files;

interface FilesProps {
  /** Asks before something is replaced. */
  confirm: (title: string, body: string) => Promise<boolean>;
  /** Told when links were opened. */
  onOpened: () => void;
}

export function Files({ confirm, onOpened }: FilesProps) {
  const training = useTraining();
  const { sets } = useLinks();
  const [problem, setProblem] = useState<EngineProblem>();
  const [opened, setOpened] = useState<string>();
  const [over, setOver] = useState(false);
  const busy = isWorking(training);
  const canExport = training.saved !== undefined || training.phase === "paused";

  const open = async (file: File) => {
    setProblem(undefined);
    setOpened(undefined);
    const { saved } = training;
    const unfinished = saved !== undefined && saved.step < saved.steps && saved.step > 0;
    const { importTitle, importBody } = strings.linkTraining.control;
    if ((unfinished || training.phase === "paused") && !(await confirm(importTitle, importBody))) return;
    const outcome = await importTraining({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) });
    if (outcome.status === "failed") {
      setProblem(outcome.problem);
      return;
    }
    if (outcome.status === "run") {
      const { stage, step } = outcome.saved;
      setOpened(text.run(strings.linkTraining.settings.stages[stage], formatCount(step)));
    } else setOpened(text.opened(outcome.info.name, formatParameters(outcome.info.parameters)));
    onOpened();
  };

  const save = async () => {
    const outcome = await exportTraining();
    if (outcome.status === "failed") setProblem(outcome.problem);
    else download(outcome.file.name, outcome.file.bytes, "application/octet-stream");
  };

  return (
    <Frame title={text.title} hint={text.hint}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is an addition to the button. */}
      <div
        className={classes.drop}
        data-over={over}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          const [file] = event.dataTransfer.files;
          if (file && !busy) void open(file);
        }}
      >
        <Button
          size="xs"
          variant="default"
          disabled={!canExport || busy}
          title={canExport ? undefined : text.nothing}
          leftSection={<IconDownload size={14} />}
          onClick={() => void save()}
        >
          {text.export}
        </Button>
        <FilePicker accept=".safetensors" onFile={(file) => void open(file)}>
          {(choose) => (
            <Button
              size="xs"
              variant="default"
              disabled={busy}
              leftSection={<IconFolderOpen size={14} />}
              onClick={choose}
            >
              {text.import}
            </Button>
          )}
        </FilePicker>
        <span className={classes.hint}>{text.drop}</span>
        {(sets.trained || sets.opened) && (
          <Button
            size="xs"
            variant="subtle"
            component={Link}
            to="/latent-recursion"
            search={{ links: sets.trained ? "trained" : "opened" } as never}
            leftSection={<IconRefreshDot size={14} />}
          >
            {text.use}
          </Button>
        )}
      </div>
      {opened && (
        <p className={classes.opened} role="status">
          {opened}
        </p>
      )}
      {problem && <ErrorCard problem={problem} />}
    </Frame>
  );
}

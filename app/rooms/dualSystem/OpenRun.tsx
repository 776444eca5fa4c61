/** Opens a run from a file that was saved here or recorded elsewhere, with the settings that made it. */
import { Button } from "@mantine/core";
import { IconFolderOpen } from "@tabler/icons-react";
import { useState } from "react";
import { FilePicker } from "../../components/FilePicker";
import { openRun } from "../../stores/runStore";
import { clearSelection } from "../../stores/selectionStore";
import { strings } from "../../strings";
import classes from "./OpenRun.module.css";
import { type RoomSearch, searchSchema } from "./search";

const text = strings.dualSystem.open;

interface OpenRunProps {
  update: (change: Partial<RoomSearch>) => void;
  disabled: boolean;
}

export function OpenRun({ update, disabled }: OpenRunProps) {
  const [problem, setProblem] = useState<string>();
  const onFile = async (file: File) => {
    try {
      const trace = openRun(await file.text(), "file");
      setProblem(undefined);
      if (!trace) return;
      clearSelection();
      update(addressOf(trace.search));
    } catch (error) {
      setProblem(`${file.name}: ${(error as Error).message}`);
    }
  };
  return (
    <div>
      <FilePicker accept=".json,application/json" onFile={onFile}>
        {(open) => (
          <Button
            size="xs"
            variant="default"
            disabled={disabled}
            leftSection={<IconFolderOpen size={14} />}
            onClick={open}
          >
            {text.button}
          </Button>
        )}
      </FilePicker>
      <p className={classes.hint}>{text.hint}</p>
      {problem && (
        <p className={classes.problem} role="alert">
          {text.failed} {problem}
        </p>
      )}
    </div>
  );
}

/** The whole address of a run: what its file does not name is absent. */
function addressOf(search: Record<string, unknown>): Partial<RoomSearch> {
  const absent = Object.fromEntries(Object.keys(searchSchema.shape).map((key) => [key, undefined]));
  return { ...absent, ...searchSchema.parse(search), step: undefined, tour: undefined };
}

/** What is asked: the question, the presets of its world, a fresh one, and the settings of the run. */
import { Button, Kbd } from "@mantine/core";
import { IconPlayerPlayFilled, IconPlayerStopFilled } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import type { QuestionSummary } from "../../../src/worker/protocol";
import { useInLab } from "../../components/depth";
import { GrowingText } from "../../components/GrowingText";
import { Panel } from "../../components/Panel";
import { stop, useRun } from "../../stores/runStore";
import { useWorld } from "../../stores/worldStore";
import { strings } from "../../strings";
import classes from "./AskPanel.module.css";
import { CorpusPanel } from "./CorpusPanel";
import { OpenRun } from "./OpenRun";
import { PresetList } from "./PresetList";
import { SettingsForm } from "./SettingsForm";
import { DEFAULTS, MAX_QUESTION_CHARACTERS, type RoomSearch, shippedCorpus } from "./search";
import { ToolsForm } from "./ToolsForm";
import { TourCard } from "./Tour";

const text = strings.dualSystem.ask;

interface AskPanelProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  /** Undefined while the world is being made. */
  question: QuestionSummary | undefined;
  busy: boolean;
  /** Undefined while nothing can be asked. */
  onAsk: (() => void) | undefined;
}

export function AskPanel({ search, update, question, busy, onAsk }: AskPanelProps) {
  const inLab = useInLab();
  return (
    <Panel label={text.label} more={text.more}>
      {!inLab && <TourCard update={update} />}
      <QuestionForm question={question} update={update} busy={busy} onAsk={onAsk} />
      {(inLab || search.corpus !== DEFAULTS.corpus) && <CorpusPanel search={search} update={update} disabled={busy} />}
      {shippedCorpus(search) ? (
        <PresetList search={search} update={update} asked={question?.text} disabled={busy} />
      ) : (
        <AskHint />
      )}
      <ToolsForm search={search} update={update} disabled={busy} />
      <SettingsForm search={search} update={update} disabled={busy} />
      {inLab && <OpenRun update={update} disabled={busy} />}
    </Panel>
  );
}

/** What a corpus without questions of its own can be asked. */
function AskHint() {
  const example = useWorld(({ world }) => world?.questions[0]?.text);
  return (
    <div>
      <div className={classes.note}>
        <p>{strings.dualSystem.corpus.ask}</p>
        {example && <p>{strings.dualSystem.corpus.honest(example)}</p>}
      </div>
    </div>
  );
}

function QuestionForm({
  question,
  update,
  busy,
  onAsk,
}: Pick<AskPanelProps, "question" | "update" | "busy" | "onAsk">) {
  const [draft, setDraft] = useState("");
  const asked = question?.text;
  // A preset, a new world or a link puts another question into the field.
  useEffect(() => {
    setDraft((current) => (current.trim() === (asked ?? "") ? current : (asked ?? "")));
  }, [asked]);
  const usable = onAsk !== undefined && draft.trim() !== "";
  const submit = () => {
    if (usable && !busy) onAsk();
  };
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <GrowingText
        label={text.question}
        placeholder={text.placeholder}
        minRows={2}
        maxRows={6}
        maxLength={MAX_QUESTION_CHARACTERS}
        value={draft}
        disabled={busy}
        labelClass={classes.label}
        inputClass={classes.input}
        onChange={(event) => {
          const own = event.currentTarget.value;
          setDraft(own);
          if (own.trim()) update({ q: own.trim(), item: undefined });
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <div className={classes.actions}>
        {busy ? (
          <StopButton />
        ) : (
          <Button type="submit" fullWidth disabled={!usable} leftSection={<IconPlayerPlayFilled size={14} />}>
            {text.ask}
          </Button>
        )}
      </div>
      <p className={classes.hint}>
        {text.keys.map(([key, action]) => (
          <span key={key}>
            <Kbd size="xs">{key}</Kbd> {action}
          </span>
        ))}
      </p>
    </form>
  );
}

function StopButton() {
  const stopping = useRun((state) => state.phase === "stopping");
  return (
    <Button
      fullWidth
      variant="default"
      disabled={stopping}
      leftSection={<IconPlayerStopFilled size={14} />}
      onClick={stop}
    >
      {stopping ? text.stopping : text.stop}
    </Button>
  );
}

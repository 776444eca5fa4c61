/** A few tokens of any loaded model: the quickest way to see whether it works and how fast it is. */
import { Button, NativeSelect, Switch, Textarea } from "@mantine/core";
import { useState } from "react";
import type { ContinueOutcome } from "../../../src/worker/libraryProtocol";
import { ErrorCard } from "../../components/ErrorCard";
import { formatDuration, formatPlural } from "../../format";
import { refreshDevice } from "../../stores/deviceStore";
import { engine, useEngine } from "../../stores/engineStore";
import { releaseEngine, takeEngine, useJob } from "../../stores/jobStore";
import { strings } from "../../strings";
import classes from "./TryIt.module.css";

const text = strings.models.loaded.try;
const TOKENS = 24;

const stop = () => void engine().stop();

export function TryIt() {
  const models = useEngine((state) => state.models);
  const job = useJob((state) => state.job);
  const [wanted, setWanted] = useState<string>();
  const [prompt, setPrompt] = useState<string>(text.first);
  const [chat, setChat] = useState(false);
  const [thinking, setThinking] = useState(true);
  const [sampled, setSampled] = useState(false);
  const [ended, setEnded] = useState<{ model: string; outcome: ContinueOutcome }>();
  const model = models.find(({ id }) => id === wanted) ?? models.at(-1);
  if (!model) return null;
  const running = job === "trial";
  // Of another model it says nothing about this one.
  const outcome = ended?.model === model.id ? ended.outcome : undefined;
  const go = async () => {
    if (!takeEngine("trial", stop)) return;
    setEnded(undefined);
    const request = { model: model.id, prompt, chat, thinking, sampled, maxTokens: TOKENS };
    const own = await engine()
      .continueText(request)
      .catch((error) => ({ status: "failed", problem: { kind: "engineFailed", detail: String(error) } }) as const);
    setEnded({ model: model.id, outcome: own });
    releaseEngine("trial");
    // The cache has grown.
    void refreshDevice();
  };
  return (
    <section className={classes.trial} aria-label={text.title}>
      <h3>{text.title}</h3>
      <div className={classes.fields}>
        <NativeSelect
          size="xs"
          label={text.model}
          data={models.map(({ id }) => id)}
          value={model.id}
          disabled={running}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
        <Textarea
          size="xs"
          label={text.prompt}
          autosize
          minRows={1}
          maxRows={5}
          value={prompt}
          disabled={running}
          onChange={(event) => setPrompt(event.currentTarget.value)}
        />
      </div>
      <div className={classes.actions}>
        <Button
          size="xs"
          variant="default"
          disabled={(job !== undefined && !running) || prompt === ""}
          onClick={running ? stop : () => void go()}
        >
          {running ? text.stop : text.go}
        </Button>
        <Switch
          size="xs"
          label={text.chat}
          checked={chat}
          disabled={running}
          onChange={(event) => setChat(event.currentTarget.checked)}
        />
        <Switch
          size="xs"
          label={text.thinking}
          title={text.thinkingHelp}
          checked={thinking}
          disabled={running || !chat}
          onChange={(event) => setThinking(event.currentTarget.checked)}
        />
        <Switch
          size="xs"
          label={text.sampled}
          title={model.sampling ? text.sampledHelp(model.sampling) : text.notSampled}
          checked={sampled && model.sampling !== undefined}
          disabled={running || !model.sampling}
          onChange={(event) => setSampled(event.currentTarget.checked)}
        />
      </div>
      {outcome?.status === "finished" && (
        <div role="status">
          <h4 className={classes.wrote}>{text.wrote}</h4>
          <pre className={classes.written}>{outcome.text || text.nothing}</pre>
          <p className={classes.figures}>
            {text.figures(
              formatPlural(outcome.ids.length, "token"),
              formatDuration(outcome.milliseconds),
              ((1000 * outcome.ids.length) / outcome.milliseconds).toPrecision(3),
            )}
          </p>
        </div>
      )}
      {outcome?.status === "failed" && <ErrorCard problem={outcome.problem} />}
    </section>
  );
}

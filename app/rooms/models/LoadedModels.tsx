/** What is loaded: on which engine, in which format, and what it holds on the device now. */
import { Button } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { EngineProblem } from "../../../src/worker/protocol";
import { ErrorCard } from "../../components/ErrorCard";
import { Frame } from "../../components/Frame";
import { formatBytes, formatCount, formatParameters } from "../../format";
import { RESEARCH_AGENT } from "../../models";
import { refreshDevice, useDevice } from "../../stores/deviceStore";
import { useEngine } from "../../stores/engineStore";
import { loadShipped, unloadModel, useLibrary } from "../../stores/libraryStore";
import { strings } from "../../strings";
import classes from "./LoadedModels.module.css";
import { MemoryBar } from "./MemoryBar";
import { TryIt } from "./TryIt";
import { WeightErrorLine } from "./WeightErrorLine";

const text = strings.models.loaded;

export function LoadedModels() {
  const models = useEngine((state) => state.models);
  const { memory, adapter } = useDevice();
  const busy = useLibrary((state) => state.phase !== "idle");
  const [problem, setProblem] = useState<EngineProblem>();
  const ids = models.map(({ id, liveBytes }) => `${id} ${liveBytes}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured again whenever what is loaded changes.
  useEffect(() => {
    void refreshDevice();
  }, [ids]);
  const of = new Map(memory.map((own) => [own.id, own]));
  const largest = Math.max(0, ...models.map(({ liveBytes }) => liveBytes));
  return (
    <Frame
      title={text.title}
      hint={models.length > 0 ? `${text.hint} ${text.useHint}` : text.hint}
      tools={
        models.length > 0 && (
          <>
            <Button size="compact-xs" variant="subtle" component={Link} to="/dual-system">
              {text.use}
            </Button>
            <Button
              size="compact-xs"
              variant="subtle"
              leftSection={<IconRefresh size={13} />}
              onClick={() => void refreshDevice()}
            >
              {text.refresh}
            </Button>
          </>
        )
      }
    >
      {models.length === 0 ? (
        <div className={classes.none}>
          <p>{text.none}</p>
          <Button size="xs" variant="default" disabled={busy} onClick={() => void loadShipped(RESEARCH_AGENT)}>
            {text.loadShipped}
          </Button>
        </div>
      ) : (
        <ul className={classes.list}>
          {models.map((model) => (
            <li key={model.id}>
              <div className={classes.head}>
                <h3>{model.id}</h3>
                <Button
                  size="compact-xs"
                  variant="default"
                  disabled={busy}
                  aria-label={text.unload(model.id)}
                  onClick={() => void unloadModel(model.id).then(setProblem)}
                >
                  {text.unloadShort}
                </Button>
              </div>
              <p className={classes.facts}>
                {text.facts(formatParameters(model.parameters), model.layers, model.hiddenSize)}
                <span>{text.engine[model.engine]}</span>
                <span>{text.weights[model.weights]}</span>
                <span>{text.context(formatCount(model.maxPositions))}</span>
                {model.latent && <span>{text.latent}</span>}
              </p>
              <MemoryBar
                label={model.id}
                bytes={of.get(model.id) ?? { weights: model.liveBytes, keyValueCache: 0, activations: 0 }}
                scale={largest}
              />
              <WeightErrorLine model={model} />
            </li>
          ))}
        </ul>
      )}
      {problem && <ErrorCard problem={problem} />}
      <TryIt />
      {adapter && (
        <p className={classes.sum}>{text.inAll(formatBytes(adapter.liveBytes), formatBytes(adapter.peakBytes))}</p>
      )}
    </Frame>
  );
}

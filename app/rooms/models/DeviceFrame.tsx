/** The graphics device: what it is and offers, how its loss is survived, and doing without it. */
import { Button } from "@mantine/core";
import { IconBolt } from "@tabler/icons-react";
import { useEngineChoice } from "../../components/EngineMenu";
import { ErrorCard, ErrorText } from "../../components/ErrorCard";
import { Facts } from "../../components/Facts";
import { Frame } from "../../components/Frame";
import { SwitchField } from "../../components/SettingsGroup";
import { TableTwin } from "../../components/TableTwin";
import { formatBytes, formatCount } from "../../format";
import { bringBack, dismissLoss, loseDevice, refreshDevice, useDevice } from "../../stores/deviceStore";
import { useEngine } from "../../stores/engineStore";
import { useJob } from "../../stores/jobStore";
import { useLibrary } from "../../stores/libraryStore";
import { strings } from "../../strings";
import classes from "./DeviceFrame.module.css";
import { gpuLimits } from "./gpuLimits";

const text = strings.models.device;
const NOTED = Object.keys(text.featureNotes) as (keyof typeof text.featureNotes)[];

export function DeviceFrame() {
  const choose = useEngineChoice();
  const { adapter, problem, loss } = useDevice();
  const choice = useEngine((state) => state.choice);
  const job = useJob((state) => state.job);
  const busy = useLibrary((state) => state.phase !== "idle") || job !== undefined;
  return (
    <Frame title={text.title} hint={text.hint}>
      {adapter ? (
        <>
          <Facts
            facts={[
              [text.adapter, adapter.name],
              [text.kind, adapter.software ? text.software : text.hardware],
              [text.driver, adapter.vendor || text.unnamed],
              [text.architecture, adapter.architecture || text.unnamed],
              [text.subgroup, adapter.subgroupSize === undefined ? text.none : formatCount(adapter.subgroupSize)],
              [text.buffer, formatBytes(gpuLimits(adapter).maxBufferBytes)],
              [text.binding, formatBytes(gpuLimits(adapter).maxBindingBytes)],
            ]}
          />
          <ul className={classes.features} aria-label={text.features}>
            {NOTED.map((name) => (
              <li key={name} data-has={adapter.features.includes(name)}>
                <b>{name}</b>{" "}
                {adapter.used.includes(name) ? text.used : adapter.features.includes(name) ? text.has : text.hasNot}
                <span> ({text.featureNotes[name]})</span>
              </li>
            ))}
          </ul>
          <TableTwin
            caption={text.limits}
            summary={text.showLimits}
            table={() => ({
              head: [text.limit, text.value],
              rows: Object.entries(adapter.limits).map(([name, value]) => [name, formatCount(value)]),
            })}
          />
        </>
      ) : (
        !problem && !loss && <p className={classes.waiting}>{text.waiting}</p>
      )}
      {problem && !loss && <ErrorCard problem={problem} onRetry={() => void refreshDevice()} />}
      {loss && <Loss />}
      <div className={classes.tries}>
        <div>
          <Button
            size="xs"
            variant="default"
            disabled={!adapter || busy}
            leftSection={<IconBolt size={14} />}
            onClick={() => void loseDevice()}
          >
            {text.lose}
          </Button>
          <p>{text.loseHelp}</p>
        </div>
        <SwitchField
          label={text.noGpu}
          help={text.noGpuHelp}
          checked={choice === "onnx-wasm"}
          disabled={busy}
          onChange={(checked) => choose(checked ? "onnx-wasm" : "auto")}
        />
      </div>
    </Frame>
  );
}

function Loss() {
  const { loss } = useDevice();
  if (!loss) return null;
  const models = loss.models.join(", ");
  if (loss.phase === "back") {
    return (
      <p className={classes.back} role="status">
        <span>{models ? text.broughtBack(models) : text.backEmpty}</span>
        <Button size="compact-xs" variant="default" onClick={dismissLoss}>
          {strings.device.dismiss}
        </Button>
      </p>
    );
  }
  return (
    <div className={classes.loss}>
      <ErrorText
        what={text.lost}
        why={loss.problem ? text.notBack(loss.problem.detail) : models ? text.lostWhy(models) : text.lostNothing}
        todo={loss.problem ? text.openAnew : `${text.bringBack}.`}
        detail={[loss.detail, loss.problem?.detail].filter(Boolean).join("\n")}
      />
      <Button size="sm" loading={loss.phase === "returning"} onClick={() => void bringBack()}>
        {text.bringBack}
      </Button>
      {loss.problem && (
        <Button size="sm" variant="default" onClick={dismissLoss}>
          {strings.device.dismiss}
        </Button>
      )}
    </div>
  );
}

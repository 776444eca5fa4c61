/** One line on what computes: the device, the models of the room, or how far loading has come. */
import { Button, Progress, Tooltip } from "@mantine/core";
import type { DeviceInfo } from "../../src/worker/loadProtocol";
import { formatBytes, formatParameters } from "../format";
import { cancelLoading, type EngineState, loadEngine, useEngine } from "../stores/engineStore";
import { strings } from "../strings";
import classes from "./EngineLine.module.css";
import { EngineMenu } from "./EngineMenu";

const text = strings.device;

export function EngineLine() {
  const state = useEngine();
  return (
    <section className={classes.line} aria-label={text.label} data-status={state.status}>
      <span className={classes.dot} aria-hidden />
      <Content {...state} />
      {!(state.status === "ready" && state.wanted.length === 0) && <EngineMenu />}
    </section>
  );
}

/** What the line calls a device: the adapter of ours, the kind of the others. */
function namesOf({ engine, name, software }: DeviceInfo): { name: string; badge: string } {
  if (engine === "onnx-wasm") return { name: strings.engines.cpu, badge: name };
  if (engine === "onnx-webgpu") return { name: strings.engines.onnxGpu, badge: name };
  return { name, badge: software ? text.software : text.hardware };
}

function Content({ status, progress, devices, models, wanted }: EngineState) {
  const [device] = devices;
  if (status === "loading") return <Loading progress={progress} />;
  if (status === "ready" && wanted.length === 0) {
    return <span>{models.length === 0 ? text.notNeeded : text.idle(models.length)}</span>;
  }
  if (status === "ready" && device) {
    const used = models.filter(({ id }) => wanted.includes(id));
    const parameters = used.reduce((sum, model) => sum + model.parameters, 0);
    const { name, badge } = namesOf(device);
    return (
      <>
        <Tooltip label={text.softwareHint} disabled={!device.software} multiline w={260}>
          <span className={classes.device}>
            <span className={classes.adapter}>{name}</span>
            <span className={classes.badge}>{badge}</span>
          </span>
        </Tooltip>
        <span className={classes.model}>
          <b>{used.map(({ id }) => id).join(", ")}</b> {text.parameters(formatParameters(parameters))}
        </span>
      </>
    );
  }
  return (
    <>
      <span>{status === "cancelled" ? text.cancelled : status === "failed" ? text.failed : text.starting}</span>
      {status === "cancelled" && (
        <Button size="compact-xs" variant="default" onClick={() => void loadEngine()}>
          {text.load}
        </Button>
      )}
    </>
  );
}

function Loading({ progress }: Pick<EngineState, "progress">) {
  const known = progress && progress.totalBytes > 0 ? progress : undefined;
  const whole = known && known.loadedBytes >= known.totalBytes;
  return (
    <>
      <span className={classes.loadingText}>
        {known && !whole ? text.loading(formatBytes(known.loadedBytes), formatBytes(known.totalBytes)) : text.preparing}
      </span>
      <Progress
        className={classes.progress}
        value={known ? (100 * known.loadedBytes) / known.totalBytes : 0}
        aria-label={text.progressLabel}
        size="sm"
      />
      <Button size="compact-xs" variant="default" onClick={cancelLoading}>
        {text.cancel}
      </Button>
    </>
  );
}

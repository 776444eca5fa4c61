/** Problems of the engine, above the room: they outlive any single run. */
import { Button } from "@mantine/core";
import type { ProblemKind } from "../../src/worker/protocol";
import { isHopeless, loadEngine, useEngine } from "../stores/engineStore";
import { strings } from "../strings";
import { useEngineChoice } from "./EngineMenu";
import classes from "./EngineProblemNotice.module.css";
import { ErrorCard } from "./ErrorCard";

/** The processor has none of these. */
const DEVICE_PROBLEMS: readonly ProblemKind[] = [
  "insecureContext",
  "noWebGpu",
  "noAdapter",
  "selfTestFailed",
  "deviceLost",
  "outOfMemory",
];

export function EngineProblemNotice() {
  const state = useEngine();
  const choose = useEngineChoice();
  const { status, problem, recovered } = state;
  if (status === "failed" && problem) {
    return (
      <div className={classes.notice}>
        <ErrorCard
          problem={problem}
          {...(!isHopeless(state) && { onRetry: () => retry(problem.kind) })}
          {...(DEVICE_PROBLEMS.includes(problem.kind) &&
            state.choice !== "onnx-wasm" && {
              other: { label: strings.engines.useCpu, onClick: () => choose("onnx-wasm") },
            })}
        />
      </div>
    );
  }
  if (!recovered) return null;
  return (
    <div className={classes.notice}>
      <div className={classes.recovered} role="status">
        <span>{strings.device.recovered}</span>
        <Button size="xs" variant="default" onClick={() => useEngine.setState({ recovered: undefined })}>
          {strings.device.dismiss}
        </Button>
      </div>
    </div>
  );
}

/** An engine that failed by its own fault may be gone with its worker: only a new page is sure to help. */
function retry(kind: ProblemKind): void {
  if (kind === "engineFailed") location.reload();
  else void loadEngine();
}

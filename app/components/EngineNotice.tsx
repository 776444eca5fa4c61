/** A quiet word that the processor answers where our engine cannot, and what is not possible then. */
import { Button } from "@mantine/core";
import { useEngine } from "../stores/engineStore";
import { strings } from "../strings";
import classes from "./EngineProblemNotice.module.css";

const text = strings.engines;

export function EngineNotice() {
  const { status, wanted, choice, auto, noticeDismissed } = useEngine();
  if (status !== "ready" || wanted.length === 0 || choice !== "auto" || !auto?.problem || noticeDismissed) return null;
  return (
    <div className={classes.notice}>
      <div className={classes.quiet} role="status">
        <span>
          <b>{text.notice(text.because(auto.problem.kind))}</b> {text.noticeLimits}
        </span>
        <Button size="compact-xs" variant="default" onClick={() => useEngine.setState({ noticeDismissed: true })}>
          {strings.device.dismiss}
        </Button>
      </div>
    </div>
  );
}

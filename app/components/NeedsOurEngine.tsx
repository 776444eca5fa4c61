/** Why a part of a room is switched off on an engine or a model without gradients, and the way to what has them. */
import { Button } from "@mantine/core";
import { lacksGradients, useEngine } from "../stores/engineStore";
import { useFrozenAgent } from "../stores/ringStore";
import { strings } from "../strings";
import classes from "./BusyElsewhere.module.css";
import { useEngineChoice } from "./EngineMenu";

const text = strings.engines.needs;

export function NeedsOurEngine() {
  const { choice, auto } = useEngine();
  const lacks = useEngine(lacksGradients);
  const choose = useEngineChoice();
  const frozen = useFrozenAgent();
  if (!lacks) {
    return frozen ? (
      <div className={classes.notice} role="note">
        <span>
          <b>{text.stored}</b> {text.storedWhy(frozen.role, frozen.model)}
        </span>
      </div>
    ) : null;
  }
  const running = choice === "auto" ? (auto?.engine ?? "onnx-wasm") : choice;
  return (
    <div className={classes.notice} role="note">
      <span>
        <b>{text.training}</b> {text.why} {strings.engines.choices[running].name}.{" "}
        {choice === "auto" ? auto?.problem && text.auto(strings.engines.because(auto.problem.kind)) : text.chosen}{" "}
        {text.meanwhile}
      </span>
      {choice !== "auto" && (
        <Button size="xs" variant="default" onClick={() => choose("auto")}>
          {text.back}
        </Button>
      )}
    </div>
  );
}

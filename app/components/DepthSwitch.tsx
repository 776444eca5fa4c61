/** Learn or Lab: how much of a room's controls is shown. */
import { SegmentedControl, Tooltip } from "@mantine/core";
import { useKeys } from "../keys";
import { strings } from "../strings";
import { DEPTHS, type Depth, useDepth } from "./depth";

const text = strings.depth;

export function DepthSwitch() {
  const { depth, setDepth } = useDepth();
  useKeys({ depth: () => setDepth(depth === "learn" ? "lab" : "learn") });
  return (
    <Tooltip label={text.help[depth]} multiline w={260} openDelay={400}>
      <SegmentedControl
        size="xs"
        aria-label={text.label}
        value={depth}
        data={DEPTHS.map((value) => ({ value, label: text.names[value] }))}
        onChange={(value) => setDepth(value as Depth)}
      />
    </Tooltip>
  );
}

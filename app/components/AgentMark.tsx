/** The sign of an agent. Decorative: its name stands beside it. */
import { useComputedColorScheme } from "@mantine/core";
import { agentColor, agentShape } from "./agentColor";

interface AgentMarkProps {
  agent: number;
  /** 0 to 1: how far into the run. Default 1. */
  share?: number;
  /** An outline: a message that it sent, rather than a thought. */
  hollow?: boolean;
  size?: number;
}

export function AgentMark({ agent, share = 1, hollow = false, size = 14 }: AgentMarkProps) {
  const dark = useComputedColorScheme("light") === "dark";
  const color = agentColor(agent, share, dark);
  return (
    <svg
      viewBox="-1.5 -1.5 3 3"
      width={size}
      height={size}
      aria-hidden
      style={{ flex: "none", verticalAlign: "-0.15em" }}
    >
      <path d={agentShape(agent)} fill={hollow ? "none" : color} stroke={color} strokeWidth={hollow ? 0.4 : 0.2} />
    </svg>
  );
}

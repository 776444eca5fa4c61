/** An agent's sign inside another drawing. */
import { useComputedColorScheme } from "@mantine/core";
import { agentColor, agentShape } from "../../components/agentColor";

export function AgentGlyph({ agent, y, size }: { agent: number; y: number; size: number }) {
  const dark = useComputedColorScheme("light") === "dark";
  return (
    <path d={agentShape(agent)} fill={agentColor(agent, 1, dark)} transform={`translate(0 ${y}) scale(${size})`} />
  );
}

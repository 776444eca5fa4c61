/** Another purpose for a turn's call: the run starts again there, and everything before stays as it was. */
import { Button } from "@mantine/core";
import { IconGitBranch } from "@tabler/icons-react";
import { useState } from "react";
import { GrowingText } from "../../components/GrowingText";
import type { TurnView } from "../../engine/runView";
import { strings } from "../../strings";
import { useBranch } from "./useBranch";

const text = strings.dualSystem.branch;
const MOST_CHARACTERS = 200;

/** Nothing for a turn that calls no tool. */
export function BranchForm({ turn }: { turn: TurnView }) {
  const branch = useBranch();
  const { call } = turn;
  const [purpose, setPurpose] = useState(call?.purpose ?? "");
  if (!call) return null;
  const words = purpose.trim();
  const usable = branch !== undefined && words !== "" && words !== call.purpose;
  const start = () => usable && branch(turn.turn, words);
  return (
    <form
      style={{ marginBottom: 16 }}
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      <GrowingText
        label={text.label}
        description={text.help}
        minRows={1}
        maxRows={4}
        maxLength={MOST_CHARACTERS}
        value={purpose}
        onChange={(event) => setPurpose(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          start();
        }}
      />
      <Button
        type="submit"
        mt={8}
        size="xs"
        variant="default"
        disabled={!usable}
        leftSection={<IconGitBranch size={14} />}
      >
        {text.start}
      </Button>
    </form>
  );
}

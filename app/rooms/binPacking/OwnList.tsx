/** A list of sizes in the visitor's own numbers. */
import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { GrowingText } from "../../components/GrowingText";
import { formatCount } from "../../format";
import { strings } from "../../strings";
import classes from "./ControlPanel.module.css";
import { type ParsedSizes, parseSizes } from "./documents";
import { MOST_DOCUMENTS, MOST_TOKENS } from "./search";

const text = strings.binPacking.panel;

interface OwnListProps {
  /** Those that are packed now. */
  sizes: readonly number[];
  onUse: (sizes: number[]) => void;
}

export function OwnList({ sizes, onUse }: OwnListProps) {
  const packed = sizes.join(", ");
  const [draft, setDraft] = useState(packed);
  const [problem, setProblem] = useState<string>();
  useEffect(() => setDraft(packed), [packed]);
  return (
    <form
      className={classes.own}
      onSubmit={(event) => {
        event.preventDefault();
        const parsed = parseSizes(draft);
        if ("sizes" in parsed) {
          setProblem(undefined);
          onUse(parsed.sizes);
        } else setProblem(problemWords(parsed));
      }}
    >
      <GrowingText
        size="xs"
        label={text.ownLabel}
        description={text.ownHelp(formatCount(MOST_DOCUMENTS))}
        placeholder={text.ownPlaceholder}
        minRows={3}
        maxRows={8}
        value={draft}
        error={problem}
        onChange={(event) => {
          setDraft(event.currentTarget.value);
          setProblem(undefined);
        }}
      />
      <Button type="submit" size="xs" disabled={draft.trim() === ""}>
        {text.ownUse}
      </Button>
    </form>
  );
}

function problemWords(problem: Exclude<ParsedSizes, { sizes: number[] }>): string {
  const { empty, word, size, many } = text.ownProblems;
  switch (problem.problem) {
    case "empty":
      return empty;
    case "word":
      return word(problem.word.slice(0, 24));
    case "size":
      return size(formatCount(problem.size), formatCount(MOST_TOKENS));
    case "many":
      return many(formatCount(problem.count), formatCount(MOST_DOCUMENTS));
  }
}

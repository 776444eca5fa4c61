/** A prompt or an output letter for letter, to read and to copy. */
import { ActionIcon, CopyButton, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { strings } from "../strings";
import classes from "./ExactText.module.css";

const text = strings.inspector;

interface ExactTextProps {
  title: string;
  text: string;
  /** More is being written. */
  pending?: boolean;
}

export function ExactText({ title, text: content, pending }: ExactTextProps) {
  return (
    <section className={classes.block}>
      <div className={classes.head}>
        <h3 className={classes.title}>
          {title}
          {pending && <span> {text.pending}</span>}
        </h3>
        <CopyButton value={content}>
          {({ copied, copy }) => (
            <Tooltip label={copied ? text.copied : text.copy}>
              <ActionIcon
                variant="subtle"
                size="sm"
                aria-label={`${copied ? text.copied : text.copy}: ${title}`}
                onClick={copy}
              >
                {copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
              </ActionIcon>
            </Tooltip>
          )}
        </CopyButton>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <pre className={classes.text} tabIndex={0}>
        {markControls(content)}
      </pre>
    </section>
  );
}

/** Control words of chat formats stand apart from what people and documents say. */
function markControls(content: string) {
  return content.split(/(<\|[\w ]+\|>|<\/?(?:think|tools|tool_call|tool_response|answer)>)/).map((part, i) =>
    i % 2 === 1 ? (
      <span key={i} className={classes.control}>
        {part}
      </span>
    ) : (
      part
    ),
  );
}

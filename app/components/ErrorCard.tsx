/** A failure in plain words: what happened, why, what to do, and the details to copy. */
import { Button, Collapse, CopyButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconAlertTriangle, IconCheck, IconCopy, IconRefresh } from "@tabler/icons-react";
import type { EngineProblem } from "../../src/worker/protocol";
import { strings } from "../strings";
import classes from "./ErrorCard.module.css";

const text = strings.error;

export function ErrorCard({
  problem,
  ...ways
}: { problem: EngineProblem } & Pick<ErrorTextProps, "onRetry" | "other">) {
  const { kind, detail } = problem;
  return <ErrorText {...text.problems[kind]} kind={kind} detail={detail} {...ways} />;
}

interface ErrorTextProps {
  what: string;
  why: string;
  todo: string;
  /** The technical reason. */
  detail: string;
  /** Names the failure in a report. Default: what happened. */
  kind?: string;
  onRetry?: () => void;
  /** Another way on. */
  other?: { label: string; onClick: () => void };
}

export function ErrorText({ what, why, todo, detail, kind = what, onRetry, other }: ErrorTextProps) {
  const [open, { toggle }] = useDisclosure(false);
  return (
    <div className={classes.card} role="alert">
      <IconAlertTriangle className={classes.icon} size={22} aria-hidden />
      <div className={classes.body}>
        <p className={classes.what}>{what}</p>
        <dl className={classes.reasons}>
          <dt>{text.why}</dt>
          <dd>{why}</dd>
          <dt>{text.todo}</dt>
          <dd>{todo}</dd>
        </dl>
        <div className={classes.actions}>
          {onRetry && (
            <Button size="xs" leftSection={<IconRefresh size={14} />} onClick={onRetry}>
              {text.retry}
            </Button>
          )}
          {other && (
            <Button size="xs" variant="default" onClick={other.onClick}>
              {other.label}
            </Button>
          )}
          <CopyButton value={reportOf(kind, detail)}>
            {({ copied, copy }) => (
              <Button
                size="xs"
                variant="default"
                leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
                onClick={copy}
              >
                {copied ? text.copied : text.copy}
              </Button>
            )}
          </CopyButton>
          <Button size="xs" variant="subtle" aria-expanded={open} onClick={toggle}>
            {text.details}
          </Button>
        </div>
        <Collapse expanded={open}>
          <pre className={classes.detail}>{detail}</pre>
        </Collapse>
      </div>
    </div>
  );
}

/** What a report needs: the problem, the page and the browser. */
function reportOf(kind: string, detail: string): string {
  return [`${strings.product}: ${kind}`, detail, location.href, navigator.userAgent].join("\n");
}

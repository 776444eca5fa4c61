/** Every kernel against the reference, on this device: how far off it is, what it may be, and how long it takes. */
import { Button, CopyButton, Progress } from "@mantine/core";
import { IconCheck, IconCopy, IconX } from "@tabler/icons-react";
import type { KernelTestCase } from "../../../src/worker/deviceProtocol";
import { BusyElsewhere } from "../../components/BusyElsewhere";
import { ErrorCard } from "../../components/ErrorCard";
import { Frame } from "../../components/Frame";
import { formatDuration } from "../../format";
import { stopTest, testKernels, useDevice } from "../../stores/deviceStore";
import { useJob } from "../../stores/jobStore";
import { strings } from "../../strings";
import { type KernelRow, kernelRows } from "./kernelRows";
import classes from "./SelfTest.module.css";

const text = strings.models.test;
const PATHS = ["decode", "differentiable"] as const;

export function SelfTest() {
  const { test, testProblem, adapter, loss } = useDevice();
  const job = useJob((state) => state.job);
  const taken = job !== undefined && job !== "kernelTest";
  const running = test?.phase === "running";
  const cases = test === undefined ? [] : test.phase === "finished" ? test.report.cases : test.cases;
  const disabled = !adapter || running || taken || loss?.phase === "lost";
  return (
    <Frame
      title={text.title}
      hint={`${text.hint} ${text.timeNote}`}
      tools={
        <>
          <Button size="xs" disabled={disabled} title={text.quickHelp} onClick={() => void testKernels("quick")}>
            {text.quick}
          </Button>
          <Button
            size="xs"
            variant="default"
            disabled={disabled}
            title={text.allHelp}
            onClick={() => void testKernels("all")}
          >
            {text.all}
          </Button>
          {test?.phase === "finished" && (
            <CopyButton value={JSON.stringify(test.report, null, 2)}>
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
          )}
        </>
      }
    >
      {taken && <BusyElsewhere own={["kernelTest"]} />}
      {running && <Running cases={cases} total={test.total} />}
      {test?.phase === "stopped" && (
        <p className={classes.verdict} role="status">
          {text.stopped(cases.length)}
        </p>
      )}
      {test?.phase === "finished" && (
        <p className={classes.verdict} role="status" data-passed={test.report.passed}>
          {test.report.passed
            ? text.passed(cases.length, formatDuration(test.report.milliseconds))
            : text.failed(cases.filter(({ passed }) => !passed).length, cases.length)}
        </p>
      )}
      {testProblem && <ErrorCard problem={testProblem} />}
      {cases.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard.
        <section className={classes.scroller} tabIndex={0} aria-label={text.title}>
          <table className={classes.table}>
            <thead>
              <tr>
                {[text.kernel, text.sizes, text.forward, text.backward, text.tolerance, text.result, text.time].map(
                  (head) => (
                    <th key={head} scope="col">
                      {head}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            {PATHS.map((path) => (
              <Path key={path} name={text.paths[path]} rows={kernelRows(cases, path)} />
            ))}
          </table>
        </section>
      )}
    </Frame>
  );
}

function Running({ cases, total }: { cases: readonly KernelTestCase[]; total: number }) {
  const last = cases.at(-1);
  return (
    <div className={classes.running}>
      <span className="tabular">{text.at(cases.length, total, last ? `${last.kernel}, ${last.size}` : "")}</span>
      <Progress size="sm" value={total > 0 ? (100 * cases.length) / total : 0} aria-label={text.progress} />
      <Button size="compact-xs" variant="default" onClick={stopTest}>
        {text.cancel}
      </Button>
    </div>
  );
}

function Path({ name, rows }: { name: string; rows: readonly KernelRow[] }) {
  if (rows.length === 0) return null;
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={7} className={classes.path}>
          {name}
        </th>
      </tr>
      {rows.map(({ kernel, sizes, forward, backward, tolerance, failed, milliseconds }) => (
        <tr key={kernel} data-passed={failed.length === 0}>
          <th scope="row">
            {kernel}
            {failed.length > 0 && <small>{failed.join("; ")}</small>}
          </th>
          <td>{sizes}</td>
          <td>{digits(forward)}</td>
          <td>{backward === undefined ? text.noBackward : digits(backward)}</td>
          <td>{digits(tolerance)}</td>
          <td className={classes.result}>
            {failed.length === 0 ? <IconCheck size={14} aria-hidden /> : <IconX size={14} aria-hidden />}
            {failed.length === 0 ? text.ok : text.notOk}
          </td>
          <td>{formatDuration(milliseconds)}</td>
        </tr>
      ))}
    </tbody>
  );
}

const digits = (value: number) => (value === 0 ? "0" : Number.isFinite(value) ? value.toExponential(1) : "∞");

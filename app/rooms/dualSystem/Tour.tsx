/** The guided tour: chapters of text beside the picture, each of which moves the picture to what it tells. */
import { Button, CloseButton, Kbd } from "@mantine/core";
import { useReducedMotion } from "@mantine/hooks";
import { IconArrowLeft, IconArrowRight } from "@tabler/icons-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Panel } from "../../components/Panel";
import { parseDualTrace } from "../../engine/dualTrace";
import { stepsOf } from "../../engine/runSteps";
import { foldEvents } from "../../engine/runView";
import { fetchTrace } from "../../engine/shippedTrace";
import { useKeys } from "../../keys";
import { openRun, useRun } from "../../stores/runStore";
import { strings } from "../../strings";
import { RECORDED_RUNS, recordedFile } from "./recorded";
import { type RoomSearch, searchSchema } from "./search";
import classes from "./Tour.module.css";
import { SCENES, type Scene, stepOf, tourFacts } from "./tour";

const text = strings.tour;

interface TourProps {
  /** From 1. */
  chapter: number;
  update: (change: Partial<RoomSearch>) => void;
}

export function Tour({ chapter, update }: TourProps) {
  const recorded = useRecorded();
  const title = useRef<HTMLHeadingElement>(null);
  const scene = SCENES[chapter - 1];
  const trace = recorded === "missing" ? undefined : recorded;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `update` is the address, which this changes.
  useEffect(() => {
    if (!trace || scene === undefined) return;
    if (useRun.getState().origin !== "recorded") openRun(trace.text, "recorded");
    // The question and the settings of the recorded run, at the chapter's step.
    update({ ...searchSchema.parse({}), ...CLEARED, tour: chapter, step: stepOf(scene, trace.steps) });
    title.current?.focus({ preventScroll: true });
  }, [trace, scene, chapter]);
  useLaneInView(scene, trace !== undefined);
  const turn = (to: number) => (to >= 1 && to <= SCENES.length ? () => update({ tour: to }) : undefined);
  const leave = () => update({ tour: undefined });
  const [next, back] = [turn(chapter + 1), turn(chapter - 1)];
  // The arrows belong to the tour as long as it is open, at its ends too.
  useKeys({ tourNext: next ?? (() => {}), tourBack: back ?? (() => {}), tourLeave: leave });
  const words = text.chapters[chapter - 1];
  return (
    <Panel label={text.label}>
      <div className={classes.tour}>
        <div className={classes.head}>
          <span>{text.chapter(chapter, SCENES.length)}</span>
          <CloseButton aria-label={text.leave} title={text.leave} onClick={leave} />
        </div>
        {recorded === "missing" && <p role="alert">{text.missing}</p>}
        {words && trace?.facts && (
          <>
            <h2 className={classes.title} ref={title} tabIndex={-1}>
              {words.title}
            </h2>
            {words.text(trace.facts).map((paragraph) => (
              <p key={paragraph} className={classes.text}>
                {paragraph}
              </p>
            ))}
          </>
        )}
        <div className={classes.buttons}>
          <Button variant="default" disabled={!back} leftSection={<IconArrowLeft size={15} />} onClick={back}>
            {text.back}
          </Button>
          {next ? (
            <Button rightSection={<IconArrowRight size={15} />} onClick={next}>
              {text.next}
            </Button>
          ) : (
            <Button onClick={leave}>{text.finish}</Button>
          )}
        </div>
        <ol className={classes.dots}>
          {text.chapters.map(({ title: name }, i) => (
            <li key={name}>
              <button
                type="button"
                aria-label={`${text.chapter(i + 1, SCENES.length)}: ${name}`}
                aria-current={i + 1 === chapter ? "step" : undefined}
                title={name}
                onClick={turn(i + 1)}
              />
            </li>
          ))}
        </ol>
        <p className={classes.keys}>{text.keys}</p>
      </div>
    </Panel>
  );
}

const WIDE = "(min-width: 62em)";
/** The picture follows the address a moment later. */
const SETTLE_MS = 400;

/** Brings the lane that a chapter tells of onto the screen, where text and picture stand side by side. */
function useLaneInView(scene: Scene | undefined, isThere: boolean): void {
  const still = useReducedMotion();
  useEffect(() => {
    if (!isThere || scene === undefined || !window.matchMedia(WIDE).matches) return;
    const timer = setTimeout(() => {
      const behavior = still ? "instant" : "smooth";
      if (typeof scene === "string" || scene.lane === "system2") window.scrollTo({ top: 0, behavior });
      else
        document
          .querySelector(`#main section > [data-lane="${scene.lane}"]`)
          ?.scrollIntoView({ block: "center", behavior });
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [scene, isThere, still]);
}

/** The ways into the tour. */
export function TourCard({ update }: Pick<TourProps, "update">) {
  return (
    <div className={classes.card}>
      <h2 className={classes.lead}>{text.lead}</h2>
      <Button
        fullWidth
        justify="space-between"
        rightSection={<Kbd size="xs">W</Kbd>}
        onClick={() => update({ tour: SCENES.length })}
      >
        {text.why}
      </Button>
      <p className={classes.hint}>{text.whyHint}</p>
      <Button
        fullWidth
        variant="default"
        justify="space-between"
        rightSection={<Kbd size="xs">T</Kbd>}
        onClick={() => update({ tour: 1 })}
      >
        {text.begin}
      </Button>
      <p className={classes.hint}>{text.beginHint}</p>
    </div>
  );
}

/** Settings without a default are absent in the recorded run. */
const CLEARED = { item: undefined, q: undefined, capacity: undefined, parallel: undefined } as const;

/** The recorded run of two systems, with what the tour tells of it. */
function useRecorded() {
  const [found, setFound] = useState<string | "missing">();
  useEffect(() => {
    let left = false;
    const file = recordedFile(searchSchema.parse(RECORDED_RUNS[0]?.search ?? {}));
    void (file === undefined ? Promise.resolve(undefined) : fetchTrace(file)).then(
      (fetched) => !left && setFound(fetched ?? "missing"),
    );
    return () => {
      left = true;
    };
  }, []);
  return useMemo(() => {
    if (found === undefined || found === "missing") return found;
    try {
      const { events } = parseDualTrace(found);
      const view = foldEvents(undefined, events);
      return { text: found, steps: stepsOf(events), facts: view && tourFacts(view) };
    } catch {
      return "missing";
    }
  }, [found]);
}

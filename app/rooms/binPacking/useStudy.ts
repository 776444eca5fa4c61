/** The study on the page: started, under way, finished or stopped; it belongs to the settings it was started with. */
import { useCallback, useEffect, useRef, useState } from "react";
import { PackingStudy, type StudyOptions, type StudyRow } from "../../../src/index";
import { runStudy } from "./studyRunner";

export interface StudyState {
  phase: "running" | "done" | "stopped";
  done: number;
  rows: StudyRow[];
}

export interface StudyControl {
  state: StudyState | undefined;
  start(): void;
  stop(): void;
}

/** @param options what to run; keeps its identity while the settings stay the same */
export function useStudy(options: StudyOptions): StudyControl {
  const [state, setState] = useState<StudyState>();
  const running = useRef<AbortController>(undefined);
  const stop = useCallback(() => running.current?.abort(), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other settings end the study and clear its result.
  useEffect(() => {
    setState(undefined);
    return () => {
      running.current?.abort();
      running.current = undefined;
    };
  }, [options]);
  const start = useCallback(() => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    const study = new PackingStudy(options);
    const show = (phase: StudyState["phase"]) => {
      // Who was replaced by another study says nothing any more.
      if (running.current === controller) setState({ phase, done: study.done, rows: study.rowsNow() });
    };
    show("running");
    void runStudy(study, { signal: controller.signal, onProgress: () => show("running") }).then((finished) =>
      show(finished ? "done" : "stopped"),
    );
  }, [options]);
  return { state, start, stop };
}

/** Folds the events of training runs into what the room draws: one track for each stage. Pure. */
import type { TrainingEvent, TrainingStage } from "../../src/index";

export type TrainingEventOf<T extends TrainingEvent["type"]> = Extract<TrainingEvent, { type: T }>;
export type TrainingStep = TrainingEventOf<"trainingStep">;
export type TrainingValidation = TrainingEventOf<"trainingValidation">;

/** A run of one stage, with everything that it did before it was last taken up. */
export interface StageView {
  started: TrainingEventOf<"trainingStarted">;
  steps: readonly TrainingStep[];
  validations: readonly TrainingValidation[];
  /** Steps taken. */
  step: number;
  /** Step of the last file. */
  savedAt?: number | undefined;
  paused: boolean;
  finished?: TrainingEventOf<"trainingFinished"> | undefined;
}

export interface TrainingView {
  stages: Readonly<Partial<Record<TrainingStage, StageView>>>;
  /** The stage of the last run. */
  current?: TrainingStage | undefined;
}

const NOTHING: TrainingView = { stages: {} };

export function foldTraining(view: TrainingView | undefined, events: readonly TrainingEvent[]): TrainingView {
  const stages: Partial<Record<TrainingStage, StageView>> = { ...(view ?? NOTHING).stages };
  let current = view?.current;
  // Arrays grow for as long as the fold lasts: a copy for each event would take the square of their length.
  const own = new Map<TrainingStage, { steps: TrainingStep[]; validations: TrainingValidation[] }>();
  const open = (stage: TrainingStage, steps: TrainingStep[], validations: TrainingValidation[]) => {
    own.set(stage, { steps, validations });
    return { steps, validations };
  };
  for (const event of events) {
    if (event.type === "trainingStarted") {
      current = event.stage;
      const before = event.step > 0 ? stages[current] : undefined;
      // A run that is taken up goes on where it was saved; what came after is done again.
      const steps = (before?.steps ?? []).filter(({ step }) => step <= event.step);
      const validations = (before?.validations ?? []).filter(({ step }) => step <= event.step);
      stages[current] = { started: event, ...open(current, steps, validations), step: event.step, paused: false };
      // New inner links want new outer ones.
      if (current === "inner" && event.step === 0) delete stages.outer;
      continue;
    }
    const stage = current && stages[current];
    if (!current || !stage) continue;
    const arrays = own.get(current) ?? open(current, [...stage.steps], [...stage.validations]);
    stages[current] = foldStage({ ...stage, ...arrays }, event, arrays);
  }
  return { stages, current };
}

function foldStage(
  stage: StageView,
  event: Exclude<TrainingEvent, { type: "trainingStarted" }>,
  arrays: { steps: TrainingStep[]; validations: TrainingValidation[] },
): StageView {
  switch (event.type) {
    case "trainingStep":
      arrays.steps.push(event);
      return { ...stage, step: event.step, paused: false };
    case "trainingValidation":
      arrays.validations.push(event);
      return stage;
    case "trainingSaved":
      return { ...stage, savedAt: event.step };
    case "trainingPaused":
      return { ...stage, paused: true };
    case "trainingResumed":
      return { ...stage, paused: false };
    case "trainingFinished":
      return { ...stage, step: event.step, paused: false, finished: event };
  }
}

/** Steps and tokens a second over the last steps; the first one of a visit compiles shaders and is left out. */
export function speedOf(steps: readonly TrainingStep[], count = 10): { steps: number; tokens: number } | undefined {
  const recent = steps.slice(Math.max(1, steps.length - count));
  const ms = recent.reduce((sum, step) => sum + step.ms, 0);
  if (recent.length === 0 || ms === 0) return undefined;
  const tokens = recent.reduce((sum, step) => sum + step.tokens, 0);
  return { steps: (1000 * recent.length) / ms, tokens: (1000 * tokens) / ms };
}

/** The mean of the last values, for a figure that does not jump. */
export function recentMean(values: readonly number[], count = 10): number | undefined {
  const recent = values.slice(-count);
  return recent.length === 0 ? undefined : recent.reduce((sum, value) => sum + value, 0) / recent.length;
}

/**
 * A training run of links, step by step: started, paused, resumed at the exact step, stopped, saved and restored. A
 * step's questions follow from seed and step, its result is read back as a few numbers, and a step whose loss or
 * gradient is not finite changes nothing and ends the run.
 */
import { linkParameterCount } from "../links/linkConfig";
import type { LinkSet } from "../links/linkSet";
import type { StoredLink } from "../links/release";
import { SerialQueue } from "../model/serialQueue";
import { checkSystem, type RecursionSystem, tapeOf } from "../recursion/agent";
import type { Tape } from "../tensor/tape";
import type { Tensor } from "../tensor/tensor";
import type { TrainingEvent, TrainingSink } from "../trace/trainingEvents";
import { InnerStage } from "./innerStage";
import { linkNorms, observe } from "./observe";
import { AdamW } from "./optimizer";
import { OuterStage } from "./outerStage";
import { cosineRate } from "./schedule";
import { inScope } from "./scope";
import { parseTrainingSettings, TrainingError, type TrainingSettings, type TrainingSettingsInput } from "./settings";
import type { LinkStage, TrainingTask, Validation } from "./stage";
import { TimeLeft } from "./timeLeft";
import { agentsOf, misfit, storedLinks, thawLinks } from "./trainedSystem";
import { type LinkMoments, namedLinks, readTrainingFile, type TrainingState, writeTrainingFile } from "./trainingFile";

export type TrainingStepEvent = Extract<TrainingEvent, { type: "trainingStep" }>;
export type FinishReason = Extract<TrainingEvent, { type: "trainingFinished" }>["reason"];

export interface LinkTrainerOptions {
  /**
   * Agents and links; stays the caller's. All links must be RecursiveLinks. A trainer freezes and thaws them: it takes
   * them over from trainers that were made before.
   */
  system: RecursionSystem;
  /** What is trained on; made of the settings, as a restored run brings its own. */
  task: (settings: TrainingSettings) => TrainingTask;
  settings: TrainingSettingsInput;
  onEvent?: TrainingSink;
  /** Called between steps with a file for `restore`, every so many steps. */
  autosave?: { every: number; save(file: Uint8Array<ArrayBuffer>, step: number): void | Promise<void> };
}

/** A step's loss or gradient was NaN or infinite. Nothing was changed: the links are those of the step before. */
export class NotFiniteError extends TrainingError {
  constructor(
    /** The step that failed. */
    readonly step: number,
    loss: number,
  ) {
    const what = Number.isFinite(loss) ? `a gradient (the loss was ${loss.toPrecision(3)})` : `the loss (${loss})`;
    super(`step ${step}: ${what} was not finite; the links are those of step ${step - 1}. Try a lower learning rate`);
  }
}

interface Current {
  settings: TrainingSettings;
  task: TrainingTask;
  stage: LinkStage;
  optimizer: AdamW;
  /** What the optimizer changes. */
  weights: readonly Tensor[];
}

export class LinkTrainer {
  private readonly tape: Tape;
  private readonly work = new SerialQueue();
  private readonly start = performance.now();
  private readonly time = new TimeLeft();
  private current: Current;
  private isRunning = false;
  private isDisposed = false;
  private wantsStop = false;
  /** Called at the next step boundary, or when the run ends before it. */
  private pauses: (() => void)[] = [];
  /** While paused: lets the run go on. */
  private goOn: (() => void) | undefined;

  /** @throws TrainingError naming a setting or a link that does not fit; RangeError as `checkSystem` */
  constructor(private readonly options: LinkTrainerOptions) {
    const settings = parseTrainingSettings(options.settings);
    checkSystem(options.system);
    this.tape = tapeOf(options.system);
    this.current = this.begin(settings);
  }

  get settings(): TrainingSettings {
    return this.current.settings;
  }

  /** Steps taken. */
  get step(): number {
    return this.current.optimizer.step;
  }

  get isFinished(): boolean {
    return this.step >= this.settings.steps;
  }

  get isPaused(): boolean {
    return this.goOn !== undefined;
  }

  /** The learning rate of a step, counted from 1. */
  learningRate(step: number): number {
    return cosineRate(step, this.settings);
  }

  /**
   * Takes all steps that are left, unless it is stopped. Events tell of everything; so does the result.
   * @param signal as `stop`
   * @returns why it ended. Does not reject for a step that is not finite, but for everything else that goes wrong
   */
  async run({ signal }: { signal?: AbortSignal } = {}): Promise<FinishReason> {
    if (this.isRunning) throw new TrainingError("the run is already going on");
    this.checkAlive();
    this.isRunning = true;
    this.wantsStop = false;
    const stop = () => this.stop();
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) this.wantsStop = true;
    const begun = performance.now();
    const finish = (reason: FinishReason, message?: string): FinishReason => {
      const ms = performance.now() - begun;
      this.emit({ type: "trainingFinished", reason, step: this.step, ms, ...(message !== undefined && { message }) });
      return reason;
    };
    try {
      this.emitStart();
      if (this.step === 0 && this.settings.validateEvery > 0 && !this.wantsStop) await this.validate(signal);
      while (!this.isFinished && !this.wantsStop) {
        if (this.pauses.length > 0) await this.rest();
        else await this.stepAndLook(signal);
      }
      return finish(this.isFinished ? "done" : "stopped");
    } catch (error) {
      if (error instanceof NotFiniteError) return finish("notFinite", error.message);
      if (this.wantsStop) return finish("stopped");
      finish("error", error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
      this.isRunning = false;
      for (const done of this.pauses.splice(0)) done();
    }
  }

  /** Holds the run at the next step boundary; resolves there, or when the run has ended. */
  pause(): Promise<void> {
    if (!this.isRunning || this.isPaused) return Promise.resolve();
    return new Promise((resolve) => this.pauses.push(resolve));
  }

  resume(): void {
    this.goOn?.();
  }

  /** Ends the run at the next step boundary; `run` may be called again. */
  stop(): void {
    this.wantsStop = true;
    this.goOn?.();
  }

  /**
   * Takes one step, for those who go step by step; `run` calls it too.
   * @throws NotFiniteError; TrainingError when all steps are taken; GpuOutOfMemoryError, GpuFailure, DeviceLostError
   */
  trainStep(): Promise<TrainingStepEvent> {
    return this.work.run(() => this.takeStep());
  }

  /** Looks at held-out questions, tells it by an event, and trains nothing. */
  validate(signal?: AbortSignal): Promise<Validation> {
    return this.work.run(async () => {
      this.checkAlive();
      const found = await this.current.stage.validate(signal);
      this.emit({ type: "trainingValidation", step: this.step, ...found });
      return found;
    });
  }

  /** The run as a file for `restore`, at a step boundary. */
  save(): Promise<Uint8Array<ArrayBuffer>> {
    return this.work.run(async () => {
      this.checkAlive();
      const file = writeTrainingFile(await this.state());
      this.emit({ type: "trainingSaved", step: this.step, bytes: file.length });
      return file;
    });
  }

  /**
   * Goes on where a saved run was: links, moments, step and settings become those of the file. Nothing is changed when
   * it is refused.
   * @param label what the file is called in errors
   * @throws TrainingError naming what does not fit: a damaged or foreign file, another stage, other agents, other links
   */
  async restore(bytes: Uint8Array, label = "training file"): Promise<void> {
    const state = readTrainingFile(bytes, label);
    if (this.isRunning && !this.isPaused) throw new TrainingError("pause or stop the run before another is restored");
    return this.work.run(async () => {
      this.checkAlive();
      const { system, task } = this.options;
      const problem = misfit(state, { system, task: task(state.settings), stage: this.settings.stage });
      if (problem !== undefined) throw new TrainingError(`${label}: ${problem}`);
      this.current.optimizer.dispose();
      this.current = this.begin(state.settings, state);
    });
  }

  /** Ends a run and gives the optimizer's memory back, after what is going on; links and agents are the caller's. */
  async dispose(): Promise<void> {
    if (this.isDisposed) return;
    this.isDisposed = true;
    this.stop();
    await this.work.run(async () => this.current.optimizer.dispose());
  }

  private begin(settings: TrainingSettings, state?: TrainingState): Current {
    const { tape } = this;
    const { system } = this.options;
    const task = this.options.task(settings);
    const { trained, frozen } = thawLinks(system, settings);
    const stage =
      settings.stage === "inner"
        ? new InnerStage(tape, system, task, settings, trained, frozen)
        : new OuterStage(tape, system, task, settings, trained, frozen);
    const saved = state ? namedLinks(state.links) : new Map<string, StoredLink>();
    for (const { name, link } of [...trained, ...frozen]) {
      const own = saved.get(name);
      if (own) link.load(own.tensors);
    }
    const moments = trained.flatMap(({ name }) => state?.moments.get(name) ?? []);
    const memory = state && {
      step: state.step,
      firstMoments: moments.map(({ first }) => first),
      secondMoments: moments.map(({ second }) => second),
    };
    const weights = trained.flatMap(({ link }) => link.parameters.map(({ tensor }) => tensor));
    const { weightDecay, maxNorm } = settings;
    const optimizer = tape.outsideScopes(() => new AdamW(tape, weights, { weightDecay, maxNorm }, memory));
    return { settings, task, stage, optimizer, weights };
  }

  private async stepAndLook(signal?: AbortSignal): Promise<void> {
    await this.trainStep();
    const { step } = this;
    const { validateEvery } = this.settings;
    if (validateEvery > 0 && (step % validateEvery === 0 || this.isFinished)) await this.validate(signal);
    const { autosave } = this.options;
    if (autosave && (step % autosave.every === 0 || this.isFinished)) await autosave.save(await this.save(), step);
  }

  private async takeStep(): Promise<TrainingStepEvent> {
    this.checkAlive();
    const { tape } = this;
    const { settings, stage, optimizer } = this.current;
    this.checkOwnership();
    if (this.isFinished) throw new TrainingError(`all ${settings.steps} steps have been taken`);
    const step = optimizer.step + 1;
    const begun = performance.now();
    const learningRate = this.learningRate(step);
    const { recorded, observed, update } = this.recordStep(step, learningRate);
    const statistics = await update;
    if (!statistics.isTaken) throw new NotFiniteError(step, statistics.loss);
    const ms = performance.now() - begun;
    this.time.add(ms);
    const event: TrainingStepEvent = {
      type: "trainingStep",
      at: performance.now() - this.start,
      step,
      loss: statistics.loss,
      gradientNorm: statistics.gradientNorm,
      linkGradientNorms: linkNorms(stage.trained, statistics.norms),
      ...observed(statistics.observed),
      ...(recorded.rounds !== undefined && { rounds: recorded.rounds }),
      learningRate,
      tokens: recorded.tokens,
      ms,
      secondsLeft: this.time.seconds(settings.steps - step, ms),
      liveBytes: tape.gpu.liveBytes,
    };
    this.options.onEvent?.(event);
    return event;
  }

  /** Everything of a step but waiting for the device. */
  private recordStep(step: number, learningRate: number) {
    const { tape } = this;
    const { stage, optimizer } = this.current;
    const messages: Tensor[] = [];
    try {
      return inScope(tape, () => {
        const recorded = stage.record(step);
        messages.push(...(recorded.messages?.flat() ?? []));
        tape.backward(recorded.loss);
        const { tensors, observed } = observe(recorded);
        return { recorded, observed, update: optimizer.update(recorded.loss, learningRate, tensors) };
      });
    } catch (error) {
      tape.reset();
      optimizer.clearGradients();
      throw error;
    } finally {
      for (const message of messages) message.clearGrad();
    }
  }

  private async rest(): Promise<void> {
    this.emit({ type: "trainingPaused", step: this.step });
    await new Promise<void>((resolve) => {
      this.goOn = resolve;
      for (const done of this.pauses.splice(0)) done();
    });
    this.goOn = undefined;
    if (!this.wantsStop) this.emit({ type: "trainingResumed", step: this.step });
  }

  private async state(): Promise<TrainingState> {
    const { settings, task, stage, optimizer } = this.current;
    const { step, firstMoments, secondMoments } = await optimizer.save();
    const { system } = this.options;
    let next = 0;
    const moments = new Map(
      stage.trained.map(({ name, link }): [string, LinkMoments] => {
        const ofLink = link.parameters.map(() => {
          const moment = { first: firstMoments[next] as Float32Array, second: secondMoments[next] as Float32Array };
          next++;
          return moment;
        });
        return [name, ofLink];
      }),
    );
    const links: LinkSet = {
      id: `${task.name}-${settings.stage}-seed${settings.seed}`,
      task: task.name,
      agents: agentsOf(system),
      ...(await storedLinks(system)),
      seeds: { training: settings.seed },
      training: { ...settings, step },
    };
    return { settings, step, roles: system.agents.map(({ role }) => role), links, moments };
  }

  private emitStart(): void {
    const { settings, stage } = this.current;
    this.emit({
      type: "trainingStarted",
      stage: settings.stage,
      step: this.step,
      steps: settings.steps,
      trained: stage.trained.map(({ name }) => name),
      frozen: [...stage.frozen.map(({ name }) => name), ...this.options.system.agents.map(({ id }) => id)],
      parameters: stage.trained.reduce((sum, { link }) => sum + linkParameterCount(link.config), 0),
      settings,
    });
  }

  private emit(event: Untimed<TrainingEvent>): void {
    this.options.onEvent?.({ ...event, at: performance.now() - this.start } as TrainingEvent);
  }

  /** Freezing and thawing gives links new tensors: then the optimizer's are not theirs any more. */
  private checkOwnership(): void {
    const { stage, weights } = this.current;
    const own = stage.trained.flatMap(({ link }) => link.parameters);
    if (own.every(({ tensor }, i) => tensor === weights[i])) return;
    throw new TrainingError("the links have been taken over by another trainer");
  }

  private checkAlive(): void {
    if (this.isDisposed) throw new TrainingError("the trainer has been disposed of");
  }
}

type Untimed<E> = E extends unknown ? Omit<E, "at"> : never;

/**
 * Training runs for the engine: one at a time, halted and saved at step boundaries, taken up again from the browser's
 * archive or from a file. The links of the run are on the shelf under "trained" whenever it halts.
 */
import { readLinkSet, writeLinkSet } from "../links/linkSet";
import type { RecursionSystem, ThinkingModel } from "../recursion/agent";
import type { UnlinkedSystem } from "../recursion/linkChoice";
import { sequentialPattern } from "../recursion/pattern";
import type { TrainingEvent } from "../trace/trainingEvents";
import { LinkTrainer } from "../train/linkTrainer";
import { relayTraining } from "../train/relayTraining";
import { parseTrainingSettings, type TrainingSettings } from "../train/settings";
import { trainableSystem } from "../train/trainableSystem";
import { isTrainingFile, readTrainingFile } from "../train/trainingFile";
import { EventBatcher } from "./eventBatcher";
import type { LinkShelf } from "./linkShelf";
import { EngineError } from "./problems";
import type { LinkFile, RingSpec } from "./recursionProtocol";
import type { TrainingArchive, TrainingRecord } from "./trainingArchive";
import type {
  ImportOutcome,
  ResumeRequest,
  SavedTraining,
  TrainingEnd,
  TrainingMessage,
  TrainRequest,
} from "./trainingProtocol";

/** Handle of the links that were trained here. */
const TRAINED = "trained";
const OPENED = "opened";
/** The same links before any training. */
const BEGAN = "began";

/** Events that are kept of a run for the charts of a later visit. */
const KEPT_EVENTS = 20_000;

interface Session {
  trainer: LinkTrainer;
  system: RecursionSystem;
  events: TrainingEvent[];
  /** On their way to the page. */
  batcher: EventBatcher<TrainingEvent>;
  began: Uint8Array<ArrayBuffer> | undefined;
}

/** What a run begins with. */
interface Prepared {
  system: RecursionSystem;
  settings: TrainingSettings;
  /** Of what came before. */
  events: TrainingEvent[];
  began: Uint8Array<ArrayBuffer> | undefined;
  /** To go on exactly where a run was. */
  file: Uint8Array<ArrayBuffer> | undefined;
}

/** What is asked of a run while its links are still being made. */
interface Beginning {
  wantsPause: boolean;
  wantsStop: boolean;
}

export class TrainingDesk {
  private session: Session | undefined;
  private beginning: Beginning | undefined;

  constructor(
    private readonly ring: (spec: RingSpec) => UnlinkedSystem,
    private readonly shelf: LinkShelf,
    private readonly archive: TrainingArchive,
    private readonly post: (message: TrainingMessage) => void,
  ) {}

  /** Whether a run is taking steps. */
  get isWorking(): boolean {
    return this.beginning !== undefined || (this.session !== undefined && !this.session.trainer.isPaused);
  }

  /** Whether a run's agents are of this model. */
  uses(model: ThinkingModel): boolean {
    return this.session?.system.agents.some((agent) => agent.model === model) ?? this.beginning !== undefined;
  }

  /** @throws TrainingError, EngineError, RangeError, LinkError for a bad request; the first failure of the device */
  train(request: TrainRequest): Promise<TrainingEnd> {
    return this.begin(request, () => this.prepareNew(request));
  }

  /** @throws as `train`; EngineError when nothing is saved, TrainingError when it does not fit */
  resume(request: ResumeRequest): Promise<TrainingEnd> {
    return this.begin(request, () => this.prepareSaved(request));
  }

  private async prepareNew(request: TrainRequest): Promise<Prepared> {
    const settings = parseTrainingSettings(request.settings);
    const set = request.links === undefined ? undefined : this.shelf.get(request.links);
    const links = set && request.freshOuter ? { ...set, outer: [] } : set;
    // What came before stays to be seen beside the next stage, unless that begins all over.
    const before = request.links === TRAINED ? await this.readArchive() : undefined;
    await this.drop();
    const system = await this.trainable(request, settings, links);
    return { system, settings, events: [...(before?.events ?? [])], began: before?.began, file: undefined };
  }

  private async prepareSaved(request: ResumeRequest): Promise<Prepared> {
    const record = await this.archive.read();
    if (!record) throw new EngineError("trainingMissing", "no training run is saved in this browser");
    const state = readTrainingFile(record.file, "the saved run");
    await this.drop();
    const system = await this.trainable(request, state.settings, state.links);
    const { events, began, file } = record;
    return { system, settings: state.settings, events: [...events], began, file };
  }

  async pause(): Promise<void> {
    const { session, beginning } = this;
    if (beginning) beginning.wantsPause = true;
    if (!session || session.trainer.isPaused) return;
    await session.trainer.pause();
    if (this.session === session) await this.keep(session);
  }

  continue(): void {
    this.session?.trainer.resume();
  }

  /** One step out of a halt, which goes on. @throws EngineError when no run is halted; as `LinkTrainer.trainStep` */
  async step(): Promise<void> {
    const { session } = this;
    if (!session?.trainer.isPaused) throw new EngineError("engineFailed", "no training run is halted");
    await session.trainer.trainStep();
    // Who is told that the step is taken has seen it.
    session.batcher.flush();
    if (this.session !== session) return;
    // The last step ends the run.
    if (session.trainer.isFinished) session.trainer.resume();
    else await this.keep(session);
  }

  stop(): void {
    if (this.beginning) this.beginning.wantsStop = true;
    this.session?.trainer.stop();
  }

  async saved(): Promise<SavedTraining | undefined> {
    const record = await this.archive.read();
    return record && this.savedOf(record);
  }

  /** The halted run, or the saved one. @throws EngineError without either */
  async export(): Promise<LinkFile> {
    const { session } = this;
    const bytes = session ? await session.trainer.save() : (await this.archive.read())?.file;
    if (!bytes) throw new EngineError("trainingMissing", "there is no training run to save");
    const { settings, step, links } = readTrainingFile(bytes);
    return { name: `${links.task}-${settings.stage}-step${step}.safetensors`, bytes };
  }

  /** @throws TrainingError, EngineError naming the file and what is wrong with it */
  async import({ name, bytes }: LinkFile): Promise<Exclude<ImportOutcome, { status: "failed" }>> {
    // A run is a set of links with more in it.
    const info = this.shelf.read(OPENED, { name, bytes });
    if (!isTrainingFile(bytes, name)) return { status: "links", info };
    const record = { file: bytes, events: [], savedAt: Date.now() };
    readTrainingFile(bytes, name);
    await this.archive.write(record);
    return { status: "run", saved: this.savedOf(record) };
  }

  /** Ends the run that is there and gives its memory back. */
  async drop(): Promise<void> {
    const { session } = this;
    if (!session) return;
    this.session = undefined;
    await session.trainer.dispose();
    for (const { innerLink } of session.system.agents) innerLink.dispose();
    for (const link of session.system.outerLinks) link.dispose();
  }

  /** The device is gone, and everything on it. */
  forget(): void {
    this.session = undefined;
    this.beginning = undefined;
  }

  private trainable(spec: RingSpec, settings: TrainingSettings, links: ReturnType<LinkShelf["get"]> | undefined) {
    const { agents, pattern } = this.ring(spec);
    const { seed, form, innerExpansion } = settings;
    return trainableSystem({
      agents,
      pattern,
      seed,
      form,
      innerExpansion,
      start: settings.stage === "outer" ? settings.start : "ridge",
      task: relayTraining(pattern)(settings),
      ...(links && { links }),
    });
  }

  private async begin(request: ResumeRequest, prepare: () => Promise<Prepared>): Promise<TrainingEnd> {
    const beginning: Beginning = { wantsPause: request.paused === true, wantsStop: false };
    this.beginning = beginning;
    try {
      return await this.run(request, await prepare(), beginning);
    } finally {
      if (this.beginning === beginning) this.beginning = undefined;
    }
  }

  private async run(
    { run, agents, saveEvery }: ResumeRequest,
    { system, settings, events, began, file }: Prepared,
    beginning: Beginning,
  ): Promise<TrainingEnd> {
    const batcher = new EventBatcher<TrainingEvent>((batch) =>
      this.post({ type: "trainingEvents", run, events: batch }),
    );
    const trainer = new LinkTrainer({
      system,
      task: relayTraining(sequentialPattern(agents.map(({ role }) => role))),
      settings,
      onEvent: (event) => {
        events.push(event);
        if (events.length > KEPT_EVENTS) events.splice(0, events.length - KEPT_EVENTS);
        batcher.push(event);
      },
      autosave: { every: saveEvery, save: (bytes) => this.write(session, bytes) },
    });
    const session: Session = { trainer, system, events, batcher, began };
    this.session = session;
    try {
      if (file) await trainer.restore(file, "the saved run");
      else session.began ??= writeLinkSet(readLinkSet("the run", await trainer.save()));
      if (session.began) {
        this.post({ type: "linksTrained", info: this.shelf.read(BEGAN, { name: BEGAN, bytes: session.began }) });
      }
      const running = trainer.run();
      this.beginning = undefined;
      if (beginning.wantsStop) trainer.stop();
      // Should it fail, so does the run.
      else if (beginning.wantsPause) this.pause().catch(() => {});
      const reason = await running;
      if (this.session === session) await this.keep(session);
      return reason;
    } finally {
      batcher.flush();
      if (this.session === session) await this.drop().catch(() => this.forget());
    }
  }

  /** Saves the run in the browser, and its links for other rooms. */
  private async keep(session: Session): Promise<void> {
    const file = await session.trainer.save();
    this.post({ type: "linksTrained", info: this.shelf.put(TRAINED, readLinkSet("the run", file)) });
    await this.write(session, file);
  }

  /** A run goes on even where it cannot be saved. */
  private async write({ events, began }: Session, file: Uint8Array<ArrayBuffer>): Promise<void> {
    try {
      await this.archive.write({ file, began, events, savedAt: Date.now() });
    } catch (error) {
      this.post({ type: "trainingNotSaved", detail: String(error) });
    }
  }

  private readArchive(): Promise<TrainingRecord | undefined> {
    return this.archive.read().catch(() => undefined);
  }

  private savedOf({ file, began, events, savedAt }: TrainingRecord): SavedTraining {
    const { settings, step, links } = readTrainingFile(file, "the saved run");
    return {
      stage: settings.stage,
      step,
      steps: settings.steps,
      savedAt,
      settings,
      events,
      links: this.shelf.put(TRAINED, links),
      ...(began && { began: this.shelf.read(BEGAN, { name: BEGAN, bytes: began }) }),
    };
  }
}

/**
 * Training runs for the engine: one at a time, halted and saved at step boundaries, taken up again from the browser's
 * archive or from a file. The links of the run are on the shelf under "trained" whenever it halts.
 */
import { readLinkSet } from "../links/linkSet";
import type { RecursionSystem } from "../recursion/agent";
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

/** Events that are kept of a run for the charts of a later visit. */
const KEPT_EVENTS = 20_000;

interface Session {
  trainer: LinkTrainer;
  system: RecursionSystem;
  events: TrainingEvent[];
}

export class TrainingDesk {
  private session: Session | undefined;

  constructor(
    private readonly ring: (spec: RingSpec) => UnlinkedSystem,
    private readonly shelf: LinkShelf,
    private readonly archive: TrainingArchive,
    private readonly post: (message: TrainingMessage) => void,
  ) {}

  /** Whether a run is taking steps. */
  get isWorking(): boolean {
    return this.session !== undefined && !this.session.trainer.isPaused;
  }

  /** @throws TrainingError, EngineError, RangeError, LinkError for a bad request; the first failure of the device */
  async train(request: TrainRequest): Promise<TrainingEnd> {
    const settings = parseTrainingSettings(request.settings);
    const set = request.links === undefined ? undefined : this.shelf.get(request.links);
    const links = set && request.freshOuter ? { ...set, outer: [] } : set;
    // What came before stays to be seen beside the next stage, unless that begins all over.
    const before = request.links === TRAINED ? ((await this.readArchive())?.events ?? []) : [];
    await this.drop();
    const system = await this.trainable(request, settings, links);
    return this.run(request, system, settings, before);
  }

  /** @throws as `train`; TrainingError when nothing is saved or it does not fit */
  async resume(request: ResumeRequest): Promise<TrainingEnd> {
    const record = await this.archive.read();
    if (!record) throw new EngineError("trainingMissing", "no training run is saved in this browser");
    const state = readTrainingFile(record.file, "the saved run");
    await this.drop();
    const system = await this.trainable(request, state.settings, state.links);
    return this.run(request, system, state.settings, record.events, record.file);
  }

  async pause(): Promise<void> {
    const { session } = this;
    if (!session || session.trainer.isPaused) return;
    await session.trainer.pause();
    if (this.session === session) await this.keep(session);
  }

  continue(): void {
    this.session?.trainer.resume();
  }

  /** @throws EngineError when no run is halted */
  async step(): Promise<void> {
    const { session } = this;
    if (!session?.trainer.isPaused) throw new EngineError("engineFailed", "no training run is halted");
    session.trainer.resume();
    await session.trainer.pause();
    if (this.session === session) await this.keep(session);
  }

  stop(): void {
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

  private async run(
    { run, agents, saveEvery, paused = false }: ResumeRequest,
    system: RecursionSystem,
    settings: TrainingSettings,
    before: readonly TrainingEvent[],
    file?: Uint8Array,
  ): Promise<TrainingEnd> {
    const batcher = new EventBatcher<TrainingEvent>((events) => this.post({ type: "trainingEvents", run, events }));
    const events = [...before];
    const trainer = new LinkTrainer({
      system,
      task: relayTraining(sequentialPattern(agents.map(({ role }) => role))),
      settings,
      onEvent: (event) => {
        events.push(event);
        if (events.length > KEPT_EVENTS) events.splice(0, events.length - KEPT_EVENTS);
        batcher.push(event);
      },
      autosave: { every: saveEvery, save: (bytes) => this.write({ file: bytes, events, savedAt: Date.now() }) },
    });
    const session = { trainer, system, events };
    this.session = session;
    try {
      if (file) await trainer.restore(file, "the saved run");
      const running = trainer.run();
      // Should it fail, so does the run.
      if (paused) this.pause().catch(() => {});
      const reason = await running;
      if (this.session === session) await this.keep(session);
      return reason;
    } finally {
      batcher.flush();
      if (this.session === session) await this.drop().catch(() => this.forget());
    }
  }

  /** Saves the run in the browser, and its links for other rooms. */
  private async keep({ trainer, events }: Session): Promise<void> {
    const file = await trainer.save();
    this.post({ type: "linksTrained", info: this.shelf.put(TRAINED, readLinkSet("the run", file)) });
    await this.write({ file, events, savedAt: Date.now() });
  }

  /** A run goes on even where it cannot be saved. */
  private async write(record: TrainingRecord): Promise<void> {
    try {
      await this.archive.write(record);
    } catch (error) {
      this.post({ type: "trainingNotSaved", detail: String(error) });
    }
  }

  private readArchive(): Promise<TrainingRecord | undefined> {
    return this.archive.read().catch(() => undefined);
  }

  private savedOf({ file, events, savedAt }: TrainingRecord): SavedTraining {
    const { settings, step, links } = readTrainingFile(file, "the saved run");
    return {
      stage: settings.stage,
      step,
      steps: settings.steps,
      savedAt,
      settings,
      events,
      links: this.shelf.put(TRAINED, links),
    };
  }
}

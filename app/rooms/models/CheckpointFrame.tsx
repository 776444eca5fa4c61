/** A checkpoint that was opened: its files, what it takes on the device at the chosen context, and loading it. */
import { Button, NativeSelect, NumberInput, Progress, Slider } from "@mantine/core";
import { IconDownload, IconX } from "@tabler/icons-react";
import { useState } from "react";
import {
  estimateMemory,
  estimateWasmMemory,
  type MemoryEstimate,
  QUANTIZATIONS,
  type Quantization,
  WASM_BYTES,
} from "../../../src/index";
import type { CheckpointInfo } from "../../../src/worker/libraryProtocol";
import type { EngineChoice, EngineVerdict } from "../../../src/worker/loadProtocol";
import { Facts } from "../../components/Facts";
import { Frame } from "../../components/Frame";
import { SwitchField } from "../../components/SettingsGroup";
import { formatBytes, formatCount, formatParameters, formatPlural } from "../../format";
import { useDevice } from "../../stores/deviceStore";
import { useEngine } from "../../stores/engineStore";
import {
  cancelLibrary,
  closeOpened,
  exportEngine,
  type LibraryState,
  type LoadOptions,
  loadOpened,
  openGraph,
  SMALL_MODEL,
  useLibrary,
} from "../../stores/libraryStore";
import { strings } from "../../strings";
import classes from "./CheckpointFrame.module.css";
import { gpuLimits } from "./gpuLimits";
import { MemoryBar } from "./MemoryBar";

const text = strings.models.checkpoint;

const FIRST_CONTEXT = 4096;

export function CheckpointFrame({ info }: { info: CheckpointInfo }) {
  const { phase } = useLibrary();
  const busy = phase !== "idle";
  const [options, setOptions] = useState<LoadOptions>(() => firstOptions(info));
  const change = (own: Partial<LoadOptions>) => setOptions((before) => ({ ...before, ...own }));
  const { config } = info;
  return (
    <Frame
      title={text.title(info.name)}
      hint={text.hint}
      tools={
        <Button
          size="compact-xs"
          variant="subtle"
          disabled={busy}
          leftSection={<IconX size={13} />}
          onClick={closeOpened}
        >
          {text.close}
        </Button>
      }
    >
      <div className={classes.parts}>
        <Facts
          facts={[
            [text.architecture, config.modelType],
            [text.parameters, formatParameters(info.parameters)],
            [text.layers, formatCount(config.layers)],
            [text.hidden, formatCount(config.hiddenSize)],
            [text.heads, `${config.heads} (${config.kvHeads})`],
            [text.stored, info.stored?.toLowerCase() ?? text.export],
            [text.toFetch, toFetch(info)],
          ]}
        />
        <Graphs info={info} disabled={busy} />
        <Files info={info} />
        <Choices info={info} options={options} change={change} disabled={busy} />
        <Fit info={info} options={options} />
      </div>
    </Frame>
  );
}

function firstOptions({ config, parameters, graph }: CheckpointInfo): LoadOptions {
  const context = Math.min(config.maxPositions, FIRST_CONTEXT);
  const latent = parameters <= SMALL_MODEL && graph === undefined;
  return { weights: "stored", cache: "f32", context, keep: true, latent };
}

/** Which weights are meant where a model has several, and what an export cannot do. */
function Graphs({ info, disabled }: { info: CheckpointInfo; disabled: boolean }) {
  const { graph, graphs, hasTensors } = info;
  const options = [
    ...(hasTensors ? [{ value: "", label: text.graphs.tensors }] : []),
    ...graphs.map((path) => ({ value: path, label: text.graphs.export(path) })),
  ];
  if (graph === undefined && graphs.length === 0) return null;
  return (
    <div className={classes.graphs}>
      {options.length > 1 && (
        <NativeSelect
          size="xs"
          label={text.graphs.label}
          description={text.graphs.help}
          inputWrapperOrder={["label", "input", "description"]}
          data={options}
          value={graph ?? ""}
          disabled={disabled}
          onChange={(event) => void openGraph(event.currentTarget.value || undefined)}
        />
      )}
      {graph !== undefined && <p role="note">{text.graphs.limits}</p>}
    </div>
  );
}

function toFetch({ key, totalBytes, keptBytes }: CheckpointInfo): string {
  return key === undefined ? formatBytes(totalBytes - keptBytes) : text.nothingToFetch;
}

function Files({ info }: { info: CheckpointInfo }) {
  const { files, totalBytes, key, keptBytes } = info;
  return (
    <div className={classes.files}>
      <p>
        {text.files(formatPlural(files.length, "file"), formatBytes(totalBytes))}
        {key !== undefined ? `. ${text.kept}` : keptBytes > 0 ? `. ${text.partlyKept(formatBytes(keptBytes))}` : ""}
      </p>
      <ul aria-label={text.fileList}>
        {files.map(({ name, bytes }) => (
          <li key={name}>
            <span>{name}</span>
            <span>{formatBytes(bytes)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ChoicesProps {
  info: CheckpointInfo;
  options: LoadOptions;
  change: (own: Partial<LoadOptions>) => void;
  disabled: boolean;
}

function Choices({ info, options, change, disabled }: ChoicesProps) {
  const { weights, cache, context, keep, latent } = options;
  const most = info.config.maxPositions;
  const least = Math.min(64, most);
  const { choices } = text.weights;
  const isExport = info.graph !== undefined;
  const engine = useEngine((state) => engineFor(info, state.choice, state.auto));
  const hasF32Cache = engine !== undefined && engine !== "wgsl";
  // By doubling: a thousand tokens more mean much in a short context and little in a long one.
  const steps = Math.log2(most / least);
  const store = useLibrary((state) => state.store);
  return (
    <div className={classes.choices}>
      <NativeSelect
        size="xs"
        label={text.weights.label}
        description={isExport ? text.weights.onnx : text.weights.help}
        inputWrapperOrder={["label", "input", "description"]}
        data={QUANTIZATIONS.map((value) => ({
          value,
          label: value === "stored" ? choices.stored(info.stored?.toLowerCase() ?? text.export) : choices[value],
        }))}
        value={weights}
        disabled={disabled || isExport}
        onChange={(event) => change({ weights: event.currentTarget.value as Quantization })}
      />
      <NativeSelect
        size="xs"
        label={text.cache.label}
        description={hasF32Cache ? text.cache.onnx : text.cache.help}
        inputWrapperOrder={["label", "input", "description"]}
        data={["f32", "f16"]}
        value={hasF32Cache ? "f32" : cache}
        disabled={disabled || hasF32Cache}
        onChange={(event) => change({ cache: event.currentTarget.value as LoadOptions["cache"] })}
      />
      <div className={classes.context}>
        <NumberInput
          size="xs"
          label={text.context.label}
          aria-label={text.context.input}
          description={text.context.help}
          inputWrapperOrder={["label", "input", "description"]}
          value={context}
          min={least}
          max={most}
          step={256}
          clampBehavior="blur"
          disabled={disabled}
          onChange={(value) => {
            if (typeof value === "number" && value >= 1 && value <= most) change({ context: value });
          }}
        />
        <Slider
          size="sm"
          label={(step) => text.context.value(formatCount(contextAt(step, least, most)))}
          thumbLabel={text.context.label}
          min={0}
          max={Math.max(steps, 0.01)}
          step={0.125}
          value={Math.log2(Math.max(1, context / least))}
          disabled={disabled || steps === 0}
          onChange={(step) => change({ context: contextAt(step, least, most) })}
        />
      </div>
      <div className={classes.switches}>
        <SwitchField
          {...text.keep}
          checked={keep && !store?.unavailable}
          disabled={disabled || store?.unavailable !== undefined}
          onChange={(checked) => change({ keep: checked })}
        />
        <SwitchField
          {...text.latent}
          {...(isExport && { help: text.graphs.noLatents })}
          checked={latent}
          disabled={disabled || isExport}
          onChange={(own) => change({ latent: own })}
        />
      </div>
    </div>
  );
}

/** Whole powers of two exactly, in between rounded to 64. */
function contextAt(step: number, least: number, most: number): number {
  const tokens = least * 2 ** step;
  return Math.min(most, Math.max(least, Math.round(tokens / 64) * 64 || least));
}

/** What will run it, as far as that is known by now. */
function engineFor({ graph }: CheckpointInfo, choice: EngineChoice, auto: EngineVerdict | undefined) {
  const wanted = graph === undefined ? choice : exportEngine(choice);
  return wanted === "auto" ? auto?.engine : wanted;
}

function Fit({ info, options }: { info: CheckpointInfo; options: LoadOptions }) {
  const adapter = useDevice((state) => state.adapter);
  const choice = useEngine((state) => state.choice);
  const auto = useEngine((state) => state.auto);
  const library = useLibrary();
  const { weights, cache, context } = options;
  const isExport = info.graph !== undefined;
  const onProcessor = engineFor(info, choice, auto) === "onnx-wasm";
  const limits = adapter && gpuLimits(adapter);
  const { stored = "F32" } = info;
  let estimate: MemoryEstimate | undefined;
  if (onProcessor || isExport) {
    const own = isExport ? { exportBytes: info.totalBytes } : { quantization: weights };
    estimate = estimateWasmMemory(info.config, { ...own, context });
  } else if (limits) {
    const isSoftware = adapter?.software ?? false;
    const format = { stored, quantization: weights, kvDtype: cache };
    estimate = estimateMemory(info.config, { ...format, context, limits, isSoftware });
  }
  if (!estimate) return <Actions library={library} options={options} label={text.loadAnyway} />;
  const problems = [...estimate.problems, ...machineProblems(estimate)];
  const room = roomProblem(library, info, options);
  const fits =
    onProcessor || !limits
      ? text.fitsWasm(formatBytes(WASM_BYTES))
      : text.fits(formatBytes(Math.min(limits.maxBufferBytes, limits.maxBindingBytes)));
  return (
    <>
      <div>
        <h3 className={classes.subtitle}>
          {onProcessor ? text.memoryWasm : text.memory} <span>{strings.models.memory.at(formatCount(context))}</span>
        </h3>
        <MemoryBar
          label={info.name}
          bytes={{
            weights: estimate.weights,
            keyValueCache: estimate.keyValueCache,
            activations: estimate.activations,
          }}
        />
      </div>
      <div className={classes.verdict} data-fits={problems.length === 0}>
        {problems.length === 0 ? (
          <p>{fits}</p>
        ) : (
          <>
            <p>{text.tooLarge}</p>
            <ul>
              {[...new Set(problems)].map((problem) => (
                <li key={problem}>{problem}</li>
              ))}
            </ul>
          </>
        )}
        {onProcessor && !isExport && <p>{text.wasm}</p>}
        {room && <p>{room}</p>}
      </div>
      <Actions
        library={library}
        options={room ? { ...options, keep: false } : options}
        label={problems.length === 0 ? text.load : text.loadAnyway}
      />
    </>
  );
}

/** Browsers tell the machine's memory in powers of two, at most 8 GB: more than that says nothing. */
function machineProblems({ total }: MemoryEstimate): string[] {
  const gigabytes = (navigator as { deviceMemory?: number }).deviceMemory;
  if (gigabytes === undefined || gigabytes >= 8) return [];
  const has = gigabytes * 2 ** 30;
  return total > has ? [text.machine(formatBytes(total), formatBytes(has))] : [];
}

function roomProblem({ store }: LibraryState, info: CheckpointInfo, { keep }: LoadOptions): string | undefined {
  if (!keep || info.key !== undefined || store?.quota === undefined || store.usage === undefined) return undefined;
  const free = Math.max(0, store.quota - store.usage);
  return info.totalBytes - info.keptBytes > free ? text.noRoom(formatBytes(free)) : undefined;
}

interface ActionsProps {
  library: LibraryState;
  options: LoadOptions;
  label: string;
}

function Actions({ library, options, label }: ActionsProps) {
  const { phase, progress, hasCopied } = library;
  if (phase !== "keeping" && phase !== "loading") {
    return (
      <div className={classes.actions}>
        <Button
          size="sm"
          disabled={phase !== "idle"}
          leftSection={<IconDownload size={15} />}
          onClick={() => void loadOpened(options)}
        >
          {label}
        </Button>
      </div>
    );
  }
  const share = progress && progress.totalBytes > 0 ? (100 * progress.loadedBytes) / progress.totalBytes : 0;
  // Every byte is copied and then put on the device: one bar, which never goes back.
  const way = phase === "keeping" ? share / 2 : hasCopied ? 50 + share / 2 : share;
  const says = phase === "keeping" ? text.keeping : text.placing;
  const done = progress !== undefined && progress.loadedBytes >= progress.totalBytes;
  return (
    <div className={classes.progress}>
      <span className="tabular">
        {progress && !(done && phase === "loading")
          ? says(formatBytes(progress.loadedBytes), formatBytes(progress.totalBytes))
          : text.preparing}
      </span>
      <Progress value={way} size="sm" aria-label={text.progress} />
      <Button size="compact-xs" variant="default" onClick={cancelLibrary}>
        {text.cancel}
      </Button>
    </div>
  );
}

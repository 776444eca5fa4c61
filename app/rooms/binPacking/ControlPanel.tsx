/** Which documents, how large the bins, what is compared. */
import { Button, Checkbox, Kbd, NumberInput, SegmentedControl, Slider } from "@mantine/core";
import { IconArrowBackUp, IconDice5 } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useInLab } from "../../components/depth";
import { LabOnly } from "../../components/LabOnly";
import { Panel } from "../../components/Panel";
import { NumberField } from "../../components/SettingsGroup";
import { formatCount } from "../../format";
import { strings } from "../../strings";
import classes from "./ControlPanel.module.css";
import { readSizes, writeSizes } from "./documents";
import { OwnList } from "./OwnList";
import {
  ALGORITHM_ORDER,
  countOf,
  DEFAULTS,
  FRESH,
  GRAINS,
  type Grain,
  LIMITS,
  PRESETS,
  type Preset,
  type RoomSearch,
  readAlgorithms,
  seedOf,
} from "./search";
import { useLastRun } from "./usePool";

const text = strings.binPacking.panel;

interface ControlPanelProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  /** Tokens, as shown now: the link follows a moment later. */
  capacity: number;
  /** What the documents bring with them. */
  own: number;
  setCapacity: (capacity: number) => void;
  onNewSeed: () => void;
  onReset: () => void;
}

export function ControlPanel(props: ControlPanelProps) {
  const { search, onNewSeed, onReset } = props;
  const seed = seedOf(search);
  return (
    <Panel label={text.label} more={text.more}>
      <div>
        <h2 className={classes.heading}>{text.presets}</h2>
        <Presets {...props} />
        <DrawSettings {...props} />
        <div className={classes.actions}>
          <Button variant="default" size="xs" leftSection={<IconDice5 size={14} />} onClick={onNewSeed}>
            {text.newSeed}
          </Button>
          <Button variant="subtle" size="xs" leftSection={<IconArrowBackUp size={14} />} onClick={onReset}>
            {text.reset}
          </Button>
          <span className={classes.seed}>{seed === 0 ? text.asGiven : text.seed(String(seed))}</span>
        </div>
      </div>
      <Capacity {...props} />
      <LabOnly changed={search.algorithms !== DEFAULTS.algorithms || search.grain !== DEFAULTS.grain}>
        <Algorithms {...props} />
      </LabOnly>
      <p className={classes.keys}>
        {text.keys.map(([key, action]) => (
          <span key={key}>
            <Kbd size="xs">{key}</Kbd> {action}
          </span>
        ))}
      </p>
    </Panel>
  );
}

function Presets({ search, update }: ControlPanelProps) {
  const run = useLastRun();
  const inLab = useInLab();
  const open = (preset: Preset) => {
    const items = preset === "run" && run ? writeSizes(run.documents.map(({ tokens }) => tokens)) : undefined;
    update({
      ...FRESH,
      preset,
      // A list stays while it is looked at, and for those who come back to it.
      items: items ?? (preset === "own" ? search.items : undefined),
      ...(items && run && { capacity: Math.max(1, run.capacity) }),
    });
  };
  return (
    <ul className={classes.presets}>
      {PRESETS.filter((preset) => inLab || preset !== "own" || search.preset === preset).map((preset) => (
        <li key={preset}>
          <button
            type="button"
            className={classes.preset}
            aria-pressed={search.preset === preset}
            disabled={preset === "run" && !run && search.preset !== "run"}
            onClick={() => open(preset)}
          >
            {text[preset].name}
            <span className={classes.hint}>{text[preset].hint}</span>
          </button>
          {preset === "run" && !run && (
            <p className={classes.noRun}>
              {text.noRun} <Link to="/dual-system">{text.toRun}</Link>
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

/** What can be set about the documents of the preset at hand. */
function DrawSettings({ search, update }: ControlPanelProps) {
  const { preset } = search;
  const inLab = useInLab();
  const field = (key: "count" | "shortest" | "longest" | "world", value: number, [label, help]: [string, string]) => (
    <NumberField
      key={key}
      label={label}
      help={help}
      value={value}
      limits={LIMITS[key]}
      disabled={false}
      onChange={(next) => update({ [key]: next, step: undefined, hand: undefined })}
    />
  );
  if (preset === "own") {
    return (
      <OwnList sizes={readSizes(search.items)} onUse={(sizes) => update({ ...FRESH, items: writeSizes(sizes) })} />
    );
  }
  if (preset !== "mixed" && preset !== "articles") return null;
  const { count, shortest, longest, world } = search;
  const isDrawnAnew = shortest !== DEFAULTS.shortest || longest !== DEFAULTS.longest || world !== DEFAULTS.world;
  if (!inLab && count === undefined && !isDrawnAnew) return null;
  return (
    <div className={classes.fields}>
      {field("count", countOf(search), [text.count, text.countHelp])}
      {preset === "mixed" && field("shortest", search.shortest, [text.shortest, text.shortestHelp])}
      {preset === "mixed" && field("longest", search.longest, [text.longest, text.longestHelp])}
      {preset === "articles" && field("world", search.world, [text.world, text.worldHelp])}
    </div>
  );
}

function Capacity({ capacity, own, setCapacity }: ControlPanelProps) {
  const least = Math.max(1, Math.round(own / 8));
  const most = own * 2;
  return (
    <div className={classes.fields}>
      <div className={classes.row}>
        <h2 className={classes.heading}>{text.capacity}</h2>
        <NumberInput
          size="xs"
          w={92}
          aria-label={text.capacityExact}
          value={capacity}
          min={LIMITS.capacity.min}
          max={LIMITS.capacity.max}
          allowDecimal={false}
          allowNegative={false}
          clampBehavior="blur"
          onChange={(next) => {
            const { min, max } = LIMITS.capacity;
            if (typeof next === "number" && next >= min && next <= max) setCapacity(next);
          }}
        />
      </div>
      <Slider
        min={least}
        max={most}
        step={Math.max(1, Math.round(own / 128))}
        value={Math.max(least, Math.min(most, capacity))}
        label={(value) => formatCount(value)}
        thumbLabel={text.capacity}
        marks={[{ value: own }]}
        onChange={setCapacity}
      />
      <p className={classes.help}>{text.capacityHelp}</p>
      {capacity !== own && (
        <Button size="compact-xs" variant="default" onClick={() => setCapacity(own)}>
          {text.capacityOwn(formatCount(own))}
        </Button>
      )}
    </div>
  );
}

function Algorithms({ search, update }: ControlPanelProps) {
  const chosen = readAlgorithms(search.algorithms);
  return (
    <div className={classes.fields}>
      <Checkbox.Group
        label={<span className={classes.heading}>{text.algorithms}</span>}
        value={chosen}
        onChange={(next) =>
          next.length > 0 && update({ algorithms: ALGORITHM_ORDER.filter((a) => next.includes(a)).join(".") })
        }
      >
        <div className={classes.algorithms}>
          {ALGORITHM_ORDER.map((algorithm) => {
            const only = chosen.length === 1 && chosen[0] === algorithm;
            return (
              <Checkbox
                key={algorithm}
                size="xs"
                value={algorithm}
                label={strings.binPacking.algorithms[algorithm].name}
                disabled={only}
                title={only ? text.lastAlgorithm : undefined}
              />
            );
          })}
        </div>
      </Checkbox.Group>
      <div className={classes.row}>
        <span className={classes.rowLabel}>{text.steps}</span>
        <SegmentedControl
          size="xs"
          aria-label={text.steps}
          data={GRAINS.map((value) => ({ value, label: text.grains[value] }))}
          value={search.grain}
          onChange={(grain) => update({ grain: grain as Grain, step: undefined })}
        />
      </div>
    </div>
  );
}

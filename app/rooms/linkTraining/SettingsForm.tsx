/** The settings of a stage, each with one line on what it does. */
import { Chip, NativeSelect, SegmentedControl } from "@mantine/core";
import { FEEDBACKS, OUTER_STARTS, type TrainingStage } from "../../../src/index";
import { useInLab } from "../../components/depth";
import { LabOnly } from "../../components/LabOnly";
import { RingModels } from "../../components/ModelChoices";
import { NumberField, type NumberLimits, SettingsGroup, SwitchField } from "../../components/SettingsGroup";
import { useLinks } from "../../stores/linksStore";
import { fitsRing, resetRing, useRing, useRingAgents } from "../../stores/ringStore";
import { isWorking, useTraining } from "../../stores/trainingStore";
import { strings } from "../../strings";
import classes from "./SettingsForm.module.css";
import {
  changedSettings,
  DEFAULTS,
  LIMITS,
  type Recipe,
  type RoomSearch,
  recipeOf,
  SOURCES,
  settingsOf,
  withRecipe,
  withSetting,
} from "./search";

const text = strings.linkTraining.settings;

const NUMBERS = {
  steps: { min: 1, max: 100_000, step: 50 },
  batch: { min: 1, max: 256, step: 1 },
  learningRate: { min: 0.00001, max: 0.1, step: 0.0001, decimals: 5 },
  latentSteps: { min: 1, max: 32, step: 1 },
  seed: { min: 0, max: 999_999, step: 1 },
  rounds: { min: 1, max: 6, step: 1 },
  truncateRounds: { min: 0, max: 6, step: 1 },
  messageWeight: { min: 0, max: 10, step: 0.1, decimals: 2 },
  answerWeight: { min: 0, max: 10, step: 0.1, decimals: 2 },
  validateEvery: { min: 0, max: 10_000, step: 5 },
  validationQuestions: { min: 1, max: 512, step: 8 },
  warmupSteps: { min: 0, max: 10_000, step: 5 },
  maxNorm: { min: 0, max: 100, step: 0.1, decimals: 2 },
  innerExpansion: { min: 1, max: 8, step: 1 },
  mseWeight: { min: 0, max: 10, step: 0.1, decimals: 2 },
  paddedShare: { min: 0, max: 1, step: 0.1, decimals: 2 },
} as const satisfies Record<string, NumberLimits>;
type NumberKey = keyof typeof NUMBERS;

const FIRST: Readonly<Record<TrainingStage, readonly NumberKey[]>> = {
  inner: ["steps", "batch", "learningRate", "latentSteps", "rounds", "seed"],
  outer: ["steps", "batch", "learningRate", "latentSteps", "truncateRounds", "seed"],
};
const MORE: Readonly<Record<TrainingStage, readonly NumberKey[]>> = {
  inner: [
    "validateEvery",
    "validationQuestions",
    "warmupSteps",
    "maxNorm",
    "innerExpansion",
    "mseWeight",
    "paddedShare",
  ],
  outer: ["validateEvery", "validationQuestions", "warmupSteps", "maxNorm", "answerWeight", "messageWeight"],
};
/** What OuterFields sets. */
const OUTER_KEYS = ["roundsMix", "feedback", "start", "trainInner"] as const;
const FORMS = Object.entries(text.form.choices).map(([value, label]) => ({ value, label }));
const MOST_ROUNDS = 4;
const RECIPE_NAMES = ["shipped", "paper", "own"] as const;

interface SettingsFormProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  disabled: boolean;
}

export function SettingsForm({ search, update, disabled }: SettingsFormProps) {
  const { stage } = search;
  const inLab = useInLab();
  const changes = search[stage] ?? {};
  const settings = settingsOf(stage, search[stage]);
  const values = settings as unknown as Record<string, number | undefined>;
  const set = (key: string, value: unknown) => update(withSetting(search, stage, key, value));
  const number = (key: NumberKey) => (
    <NumberField
      key={key}
      {...text[key]}
      value={values[key]}
      limits={NUMBERS[key]}
      disabled={disabled}
      onChange={(value) => set(key, value)}
    />
  );
  const recipe = recipeOf(search, stage);
  const { saveEvery, autoPause } = search;
  // Agents can be changed also where those that are chosen cannot be trained on.
  const working = useTraining(isWorking);
  const ownAgents = Object.values(useRing()).filter((model) => model !== undefined).length;
  const own = ownAgents + Number(saveEvery !== DEFAULTS.saveEvery) + Number(autoPause !== DEFAULTS.autoPause);
  return (
    <div className={classes.form}>
      <SegmentedControl
        fullWidth
        size="xs"
        aria-label={text.stage}
        data={(["inner", "outer"] as const).map((value) => ({ value, label: text.stages[value] }))}
        value={stage}
        onChange={(value) => update({ stage: value as TrainingStage })}
      />
      <LabOnly changed={recipe !== "shipped"}>
        <Choice
          {...text.recipe}
          data={RECIPE_NAMES.filter((name) => name !== "own" || recipe === undefined).map((value) => ({
            value,
            label: text.recipe.choices[value],
          }))}
          value={recipe ?? "own"}
          disabled={disabled}
          onChange={(value) => value !== "own" && update(withRecipe(search, value as Recipe))}
        />
      </LabOnly>
      {FIRST[stage].filter((key) => inLab || key === "steps" || key in changes).map(number)}
      {settings.stage === "outer" && (
        <LabOnly changed={OUTER_KEYS.some((key) => key in changes)}>
          <OuterFields settings={settings} set={set} disabled={disabled} />
        </LabOnly>
      )}
      <LabOnly changed={search.from !== undefined}>
        <From search={search} update={update} disabled={disabled} />
      </LabOnly>
      <SettingsGroup
        title={text.more}
        changed={(inLab ? changedSettings(search, stage) : changedBelow(stage, changes)) + own}
        disabled={disabled}
        onReset={() => {
          resetRing();
          update({ [stage]: undefined, saveEvery: DEFAULTS.saveEvery, autoPause: DEFAULTS.autoPause });
        }}
      >
        <RingModels disabled={working} />
        {MORE[stage].map(number)}
        {settings.stage === "outer" && (
          <SwitchField
            {...text.detachMessages}
            checked={settings.detachMessages}
            disabled={disabled}
            onChange={(checked) => set("detachMessages", checked)}
          />
        )}
        <Choice
          {...text.form}
          data={FORMS}
          value={settings.form}
          disabled={disabled}
          onChange={(value) => set("form", value)}
        />
        <NumberField
          {...text.saveEvery}
          value={saveEvery}
          limits={LIMITS.saveEvery}
          disabled={disabled}
          onChange={(value) => update({ saveEvery: value })}
        />
        <SwitchField
          {...text.autoPause}
          checked={autoPause}
          disabled={false}
          onChange={(checked) => update({ autoPause: checked })}
        />
      </SettingsGroup>
    </div>
  );
}

/** How many settings are changed that stand under "More": in Learn the others must not open it. */
function changedBelow(stage: TrainingStage, changes: Readonly<Record<string, unknown>>): number {
  const above: readonly string[] = [...FIRST[stage], ...OUTER_KEYS];
  return Object.keys(changes).filter((key) => !above.includes(key)).length;
}

interface OuterFieldsProps {
  settings: Extract<ReturnType<typeof settingsOf>, { stage: "outer" }>;
  set: (key: string, value: unknown) => void;
  disabled: boolean;
}

function OuterFields({ settings, set, disabled }: OuterFieldsProps) {
  return (
    <>
      <fieldset className={classes.mix}>
        <legend>{text.roundsMix.label}</legend>
        <Chip.Group
          multiple
          value={settings.roundsMix.map(String)}
          // At least one depth is trained.
          onChange={(chosen) => chosen.length > 0 && set("roundsMix", chosen.map(Number).sort())}
        >
          {Array.from({ length: MOST_ROUNDS }, (_, i) => String(i + 1)).map((rounds) => (
            <Chip key={rounds} value={rounds} size="xs" disabled={disabled}>
              {rounds}
            </Chip>
          ))}
        </Chip.Group>
        <p>{text.roundsMix.help}</p>
      </fieldset>
      <Choice
        {...text.feedback}
        data={FEEDBACKS.map((value) => ({ value, label: text.feedback.choices[value] }))}
        value={settings.feedback}
        disabled={disabled}
        onChange={(value) => set("feedback", value)}
      />
      <Choice
        {...text.start}
        data={OUTER_STARTS.map((value) => ({ value, label: text.start.choices[value] }))}
        value={settings.start}
        disabled={disabled}
        onChange={(value) => set("start", value)}
      />
      <SwitchField
        {...text.trainInner}
        checked={settings.trainInner}
        disabled={disabled}
        onChange={(checked) => set("trainInner", checked)}
      />
    </>
  );
}

function From({ search, update, disabled }: SettingsFormProps) {
  const { sets } = useLinks();
  const ring = useRingAgents();
  const there = SOURCES.filter((source) => source === "none" || fitsRing(sets[source], ring));
  const chosen = sourceOf(search, (id) => fitsRing(sets[id], ring));
  return (
    <Choice
      {...text.from}
      data={there.map((value) => ({ value, label: text.from.choices[value] }))}
      value={chosen}
      disabled={disabled}
      onChange={(value) => update({ from: value as RoomSearch["from"] })}
    />
  );
}

/** What the stage begins with: as chosen, as far as it is there. */
export function sourceOf({ stage, from }: RoomSearch, isThere: (id: string) => boolean): (typeof SOURCES)[number] {
  const wanted = from ?? (stage === "outer" ? "trained" : "none");
  return wanted === "none" || isThere(wanted) ? wanted : "none";
}

interface ChoiceProps {
  label: string;
  help: string;
  data: { value: string; label: string }[];
  value: string;
  disabled: boolean;
  onChange: (value: string) => void;
}

function Choice({ label, help, data, value, disabled, onChange }: ChoiceProps) {
  return (
    <NativeSelect
      size="xs"
      label={label}
      description={help}
      inputWrapperOrder={["label", "input", "description"]}
      data={data}
      value={value}
      disabled={disabled}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

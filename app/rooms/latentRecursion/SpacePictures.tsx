/** The vectors of one space: where they lie, how alike they are, how long they are. */
import { Button, NativeSelect, SegmentedControl, useComputedColorScheme } from "@mantine/core";
import { useEffect, useMemo } from "react";
import { agentColor, roundShare } from "../../components/agentColor";
import { Frame } from "../../components/Frame";
import { Heatmap } from "../../components/Heatmap";
import { LabOnly } from "../../components/LabOnly";
import { LatentMap } from "../../components/LatentMap";
import { LineChart, type LinePoint, type LineSeries } from "../../components/LineChart";
import { cosinesOf, type LatentSpace, type LatentVector, normOf, spacesOf, vectorsOf } from "../../engine/latents";
import type { RecursionView } from "../../engine/recursionView";
import { formatPercent } from "../../format";
import { useEngine } from "../../stores/engineStore";
import { dropAxes, openVocabulary, selectLatent, useLatents } from "../../stores/latentStore";
import { strings } from "../../strings";
import { LensTable } from "./LensTable";
import { readingOf, tokenWords } from "./reading";
import classes from "./SpacePictures.module.css";
import { DEFAULTS, FITS, type RoomSearch } from "./search";
import { useMap } from "./useMap";
import { vectorLabel } from "./vectorLabel";

const text = strings.latentRecursion;

interface SpacePicturesProps {
  /** The run up to the position, and whole. */
  view: RecursionView;
  whole: RecursionView;
  fit: RoomSearch["fit"];
  onFit: (fit: RoomSearch["fit"]) => void;
  /** What stands at the map's side where it is the only picture. */
  beside: React.ReactNode;
}

export function SpacePictures({ view, whole, fit, onFit, beside }: SpacePicturesProps) {
  const spaces = useMemo(() => spacesOf(whole.started), [whole.started]);
  const chosen = useLatents(({ space }) => space);
  const all = useMemo(() => vectorsOf(view), [view]);
  const selected = useSelectedKey();
  // What is selected, wherever, is shown in its own space.
  useEffect(() => {
    const reader = vectorsOf(whole).find(({ key }) => key === selected)?.reader;
    const own = reader === undefined ? undefined : spaces.find(({ agents }) => agents.includes(reader));
    if (own) useLatents.setState({ space: own.model });
  }, [selected, whole, spaces]);
  const space = spaces.find(({ model }) => model === chosen) ?? (spaces[0] as LatentSpace);
  const roles = whole.started.agents.map(({ role }) => role);
  const vectors = useMemo(() => vectorsOf(whole, space), [whole, space]);
  const shown = useMemo(() => vectorsOf(view, space).length, [view, space]);
  const isLoaded = useEngine(({ models }) => models.some(({ id }) => id === space.model));
  useEffect(() => {
    if (isLoaded) void openVocabulary(space.model);
  }, [isLoaded, space.model]);
  return (
    <>
      <LabOnly changed={space !== spaces[0]}>
        <div className={classes.bar}>
          <NativeSelect
            size="xs"
            label={text.space.label}
            value={space.model}
            data={spaces.map(({ model, hiddenSize, agents }) => ({
              value: model,
              label: text.space.option(model, hiddenSize, agents.map((agent) => roles[agent]).join(", ")),
            }))}
            onChange={(event) => useLatents.setState({ space: event.currentTarget.value })}
          />
          <p className={classes.hint}>{text.space.hint}</p>
        </div>
      </LabOnly>
      <div className={classes.pictures}>
        <MapPart {...{ space, vectors, shown, roles, fit, onFit }} rounds={whole.started.settings.rounds} />
        <LabOnly>
          <CosinePart {...{ vectors, shown, roles }} rounds={whole.started.settings.rounds} />
          <NormPart {...{ space, vectors, shown, roles }} />
          <LensTable vectors={all} roles={roles} rounds={whole.started.settings.rounds} />
        </LabOnly>
        {beside && <div className={classes.beside}>{beside}</div>}
      </div>
    </>
  );
}

interface PartProps {
  vectors: readonly LatentVector[];
  /** Vectors up to the position. */
  shown: number;
  roles: readonly string[];
  rounds: number;
}

const useSelectedKey = () => useLatents(({ selected }) => (selected?.part === "vector" ? selected.key : undefined));
const select = (key: string) => selectLatent({ part: "vector", key });
const useDark = () => useComputedColorScheme("light") === "dark";

interface MapPartProps extends PartProps {
  space: LatentSpace;
  fit: RoomSearch["fit"];
  onFit: (fit: RoomSearch["fit"]) => void;
}

function MapPart({ space, vectors, shown, roles, rounds, fit, onFit }: MapPartProps) {
  const dark = useDark();
  const selected = useSelectedKey();
  const map = useMap(space.model, fit, vectors);
  const dots = useMemo(
    () =>
      vectors.slice(0, shown).map((vector, i) => ({
        key: vector.key,
        ...(map?.places[i] ?? { x: 0, y: 0 }),
        agent: vector.agent,
        color: agentColor(vector.agent, roundShare(vector.round, rounds), dark),
        hollow: vector.kind === "message",
        path: `${vector.kind} ${vector.round} ${vector.agent}`,
        label: `${vectorLabel(vector, roles)}: ${readingOf(vector.lens)}`,
      })),
    [vectors, shown, map, roles, rounds, dark],
  );
  const ground = useMemo(() => (map?.ground ?? []).map((item) => ({ ...item, label: tokenWords(item.label) })), [map]);
  return (
    <Frame
      title={text.map.title}
      hint={text.map.hint}
      tools={
        <LabOnly changed={fit !== DEFAULTS.fit}>
          <SegmentedControl
            size="xs"
            aria-label={text.map.fit}
            data={FITS.map((value) => ({ value, label: text.map.fits[value] }))}
            value={fit}
            onChange={(value) => onFit(value as RoomSearch["fit"])}
          />
          <Button size="compact-xs" variant="subtle" title={text.map.refitHint} onClick={() => dropAxes(space.model)}>
            {text.map.refit}
          </Button>
        </LabOnly>
      }
    >
      {map ? (
        <LatentMap
          title={text.map.title}
          dots={dots}
          ground={ground}
          extent={map.extent}
          axes={[
            text.map.axis(1, formatPercent(map.axes.explained[0])),
            text.map.axis(2, formatPercent(map.axes.explained[1])),
          ]}
          selected={selected}
          onSelect={select}
        />
      ) : (
        <p className={classes.none}>{text.map.none}</p>
      )}
    </Frame>
  );
}

function CosinePart({ vectors, shown, roles, rounds }: PartProps) {
  const dark = useDark();
  const selected = useSelectedKey();
  const items = useMemo(
    () =>
      vectors.map((vector) => ({
        key: vector.key,
        label: vectorLabel(vector, roles),
        color: agentColor(vector.agent, roundShare(vector.round, rounds), dark),
        group: `${vector.kind} ${vector.round} ${vector.agent}`,
      })),
    [vectors, roles, rounds, dark],
  );
  const values = useMemo(
    () =>
      cosinesOf(
        vectors.map(({ vector }) => vector),
        shown,
      ),
    [vectors, shown],
  );
  return (
    <Frame title={text.cosines.title} hint={text.cosines.hint}>
      <Heatmap
        title={text.cosines.title}
        unit={text.cosines.unit}
        items={items}
        values={values}
        selected={selected}
        onSelect={select}
      />
    </Frame>
  );
}

function NormPart({ space, vectors, shown, roles }: Omit<PartProps, "rounds"> & { space: LatentSpace }) {
  const dark = useDark();
  const selected = useSelectedKey();
  const { series, points } = useMemo(() => {
    const lines = new Map<string, LineSeries>();
    const values = vectors.map(({ kind, agent, vector }, x): LinePoint => {
      const key = `${kind}${agent}`;
      const label = (kind === "thought" ? text.norms.thoughts : text.norms.messages)(roles[agent] ?? "");
      lines.set(key, { key, label, color: agentColor(agent, 1, dark), dashed: kind === "message", dots: true });
      return x < shown ? { x, [key]: normOf(vector) } : { x };
    });
    return { series: [...lines.values()], points: values };
  }, [vectors, shown, roles, dark]);
  const { mean, low, high } = space.norms;
  const at = vectors.findIndex(({ key }) => key === selected);
  return (
    <Frame title={text.norms.title} hint={text.norms.hint}>
      <LineChart
        title={text.norms.title}
        name="vector-lengths"
        xLabel={text.norms.step}
        series={series}
        points={points}
        fromZero
        line={{ y: mean, label: text.norms.mean }}
        band={{ low, high, label: text.norms.band }}
        selected={at < 0 ? undefined : at}
        onSelect={(x) => {
          const vector = vectors[x];
          if (vector) select(vector.key);
        }}
        formatX={(x) => (vectors[x] ? vectorLabel(vectors[x], roles) : "")}
        height={230}
      />
    </Frame>
  );
}

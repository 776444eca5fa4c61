/** The selected thought, message or turn to the last number. */
import { ExactText } from "../../components/ExactText";
import { Facts } from "../../components/Facts";
import { InspectorPanel } from "../../components/InspectorPanel";
import { cosinesOf, type LatentVector, normOf, spacesOf, vectorsOf } from "../../engine/latents";
import type { AgentTurn, RecursionView } from "../../engine/recursionView";
import { formatCount, formatDuration, formatPercent } from "../../format";
import { clearLatentSelection, selectLatent, useLatents } from "../../stores/latentStore";
import { strings } from "../../strings";
import classes from "./Inspector.module.css";
import { tokenWords } from "./reading";
import { vectorLabel } from "./vectorLabel";

const text = strings.latentRecursion.inspector;
const LIKE = 5;

export function Inspector({ view }: { view: RecursionView | undefined }) {
  const selected = useLatents((state) => state.selected);
  if (!selected || !view) return null;
  const roles = view.started.agents.map(({ role }) => role);
  if (selected.part === "turn") {
    const turn = view.turns.find(({ round, agent }) => round === selected.round && agent === selected.agent);
    if (!turn) return null;
    return (
      <InspectorPanel title={text.turn(roles[turn.agent] ?? "", turn.round)} onClose={clearLatentSelection}>
        <TurnDetail turn={turn} view={view} />
      </InspectorPanel>
    );
  }
  const vectors = vectorsOf(view);
  const vector = vectors.find(({ key }) => key === selected.key);
  if (!vector) return null;
  return (
    <InspectorPanel title={titleOf(vector, roles)} onClose={clearLatentSelection}>
      <VectorDetail vector={vector} view={view} roles={roles} />
    </InspectorPanel>
  );
}

function titleOf({ kind, agent, reader, round, step }: LatentVector, roles: readonly string[]): string {
  const [who, whom] = [roles[agent] ?? "", roles[reader] ?? ""];
  return kind === "thought" ? text.thought(who, round, step + 1) : text.message(who, whom, round, step + 1);
}

function TurnDetail({ turn, view }: { turn: AgentTurn; view: RecursionView }) {
  const { promptTokens, prompt, text: message, thoughts } = turn;
  const agent = view.started.agents[turn.agent];
  const isAnswer = view.answer?.round === turn.round && turn.agent === view.started.agents.length - 1;
  return (
    <>
      <Facts
        facts={[
          [text.promptTokens, formatCount(promptTokens)],
          thoughts.length > 0 && [strings.latentRecursion.run.steps, formatCount(thoughts.length)],
          message && [strings.inspector.time, formatDuration(message.ms)],
          agent && [text.model, agent.model],
        ]}
      />
      {message && <ExactText title={text.written} text={message.text} />}
      {isAnswer && view.answer && <ExactText title={strings.inspector.output} text={view.answer.text} />}
      <ExactText title={strings.inspector.prompt} text={prompt} />
      <p className={classes.note}>{text.slot}</p>
    </>
  );
}

interface VectorDetailProps {
  vector: LatentVector;
  view: RecursionView;
  roles: readonly string[];
}

function VectorDetail({ vector, view, roles }: VectorDetailProps) {
  const space = spacesOf(view.started).find(({ agents }) => agents.includes(vector.reader));
  const turn = view.turns.find(({ round, agent }) => round === vector.round && agent === vector.agent);
  const isThought = vector.kind === "thought";
  return (
    <>
      <Facts
        facts={[
          [text.length, normOf(vector.vector).toPrecision(3)],
          space && [text.meanLength, space.norms.mean.toPrecision(3)],
          [text.numbers, formatCount(vector.vector.length)],
        ]}
      />
      <h3 className={classes.heading}>
        {isThought ? text.reading : text.nearest} <span>{isThought ? text.readingHint : text.nearestHint}</span>
      </h3>
      <ol className={classes.readings}>
        {vector.lens.map(({ id, text: token, probability }) => (
          <li key={id}>
            <span className={classes.token}>{tokenWords(token)}</span>
            <span className={classes.track}>
              <span style={{ width: `${100 * Math.max(0, probability)}%` }} />
            </span>
            <span className="tabular">{isThought ? formatPercent(probability) : probability.toFixed(2)}</span>
          </li>
        ))}
      </ol>
      {space && <Neighbours vector={vector} vectors={vectorsOf(view, space)} roles={roles} />}
      {turn && (
        <>
          <ExactText title={strings.inspector.prompt} text={turn.prompt} />
          <p className={classes.note}>{text.slot}</p>
        </>
      )}
    </>
  );
}

interface NeighboursProps {
  vector: LatentVector;
  /** Of the same space. */
  vectors: readonly LatentVector[];
  roles: readonly string[];
}

function Neighbours({ vector, vectors, roles }: NeighboursProps) {
  const like = vectors
    .filter(({ key }) => key !== vector.key)
    .map((other) => ({ other, cosine: cosinesOf([vector.vector, other.vector])[1] as number }))
    .filter(({ cosine }) => !Number.isNaN(cosine))
    .sort((a, b) => b.cosine - a.cosine)
    .slice(0, LIKE);
  if (like.length === 0) return null;
  return (
    <>
      <h3 className={classes.heading}>
        {text.neighbours} <span>{strings.latentRecursion.cosines.unit}</span>
      </h3>
      <ol className={classes.readings}>
        {like.map(({ other, cosine }) => (
          <li key={other.key}>
            <button type="button" onClick={() => selectLatent({ part: "vector", key: other.key })}>
              {vectorLabel(other, roles)}
            </button>
            <span className={classes.track}>
              <span style={{ width: `${100 * Math.max(0, cosine)}%` }} />
            </span>
            <span className="tabular">{cosine.toFixed(2)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The ring of agents: loops are inner links, arrows outer links; the turn that is on stands out. */
import { strings } from "../../strings";
import { AgentGlyph } from "./AgentGlyph";
import classes from "./Ring.module.css";

const text = strings.latentRecursion.ring;

export interface RingAgent {
  role: string;
  /** Known once the model is. */
  hiddenSize?: number | undefined;
}

interface RingProps {
  agents: readonly RingAgent[];
  edges: readonly { from: number; to: number }[];
  round: number;
  rounds: number;
  /** Whose turn it is. */
  active: number | undefined;
  /** Along which edge a message just went. */
  sending: { from: number; to: number } | undefined;
  /** Text is passed, so that links stand idle. */
  idleLinks: boolean;
}

const RADIUS = 96;
const NODE = 36;
/** Degrees on the ring between a node's middle and the end of its arrow. */
const GAP = 27;

const point = (degrees: number, radius: number) => {
  const angle = (degrees * Math.PI) / 180;
  return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
};
const coordinates = ({ x, y }: { x: number; y: number }) => `${x.toFixed(1)} ${y.toFixed(1)}`;

export function Ring({ agents, edges, round, rounds, active, sending, idleLinks }: RingProps) {
  const angleOf = (agent: number) => -90 + (360 * agent) / agents.length;
  return (
    <svg className={classes.ring} viewBox="-192 -160 384 304" role="img" aria-label={text.label(round, rounds)}>
      <defs>
        <marker id="ring-arrow" viewBox="0 0 8 8" refX="6.5" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0.5L8 4L0 7.5Z" className={classes.head} />
        </marker>
      </defs>
      <text className={classes.round} y={-6}>
        {text.round}
      </text>
      <text className={classes.count} y={14}>
        {text.of(round, rounds)}
      </text>
      {edges.map(({ from, to }) => (
        <Arrow
          key={`${from}-${to}`}
          start={angleOf(from) + GAP}
          end={angleOf(to) - GAP + (to <= from ? 360 : 0)}
          sizes={[agents[from]?.hiddenSize, agents[to]?.hiddenSize]}
          active={sending?.from === from && sending.to === to}
          idle={idleLinks}
        />
      ))}
      {agents.map(({ role, hiddenSize }, agent) => {
        const { x, y } = point(angleOf(agent), RADIUS);
        return (
          <g key={role} className={classes.agent} data-active={active === agent} transform={`translate(${x} ${y})`}>
            <InnerLoop degrees={angleOf(agent)} idle={idleLinks} />
            <circle r={NODE} className={classes.node} />
            <AgentGlyph agent={agent} y={-17} size={6} />
            <text className={classes.role} y={4}>
              {role}
            </text>
            {hiddenSize !== undefined && (
              <text className={classes.width} y={18}>
                {text.width(hiddenSize)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

interface ArrowProps {
  /** Degrees, clockwise. */
  start: number;
  end: number;
  sizes: readonly [number | undefined, number | undefined];
  active: boolean;
  idle: boolean;
}

function Arrow({ start, end, sizes: [from, to], active, idle }: ArrowProps) {
  const path = `M${coordinates(point(start, RADIUS))}A${RADIUS} ${RADIUS} 0 0 1 ${coordinates(point(end, RADIUS))}`;
  const changes = from !== undefined && to !== undefined && from !== to;
  const middle = point((start + end) / 2, RADIUS + 12);
  const anchor = middle.x > 20 ? "start" : middle.x < -20 ? "end" : "middle";
  return (
    <g className={classes.edge} data-active={active} data-changes={changes} data-idle={idle}>
      <path d={path} markerEnd="url(#ring-arrow)" />
      {changes && (
        <text x={middle.x} y={middle.y + 4} textAnchor={anchor}>
          <title>{text.changesHint}</title>
          {text.changes(from, to)}
        </text>
      )}
    </g>
  );
}

/** A small loop on the outer side of a node. */
function InnerLoop({ degrees, idle }: { degrees: number; idle: boolean }) {
  const [from, to] = [point(degrees - 24, NODE), point(degrees + 24, NODE)];
  return (
    <path
      className={classes.loop}
      data-idle={idle}
      d={`M${coordinates(from)}A17 17 0 1 1 ${coordinates(to)}`}
      markerEnd="url(#ring-arrow)"
    />
  );
}

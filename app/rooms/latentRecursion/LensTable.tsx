/** What the agents' heads read out of every vector, five tokens each. */
import { useEffect, useRef } from "react";
import { AgentMark } from "../../components/AgentMark";
import { roundShare } from "../../components/agentColor";
import { ExportMenu } from "../../components/ExportMenu";
import { Frame } from "../../components/Frame";
import type { LatentVector } from "../../engine/latents";
import { formatPercent } from "../../format";
import { selectLatent, useLatents } from "../../stores/latentStore";
import { strings } from "../../strings";
import classes from "./LensTable.module.css";
import { tokenWords } from "./reading";
import { vectorLabel } from "./vectorLabel";

const text = strings.latentRecursion.lens;
const RANKS = [1, 2, 3, 4, 5];

interface LensTableProps {
  vectors: readonly LatentVector[];
  roles: readonly string[];
  rounds: number;
}

export function LensTable({ vectors, roles, rounds }: LensTableProps) {
  const selected = useLatents(({ selected: own }) => (own?.part === "vector" ? own.key : undefined));
  const scroller = useRef<HTMLElement>(null);
  useEffect(() => {
    const box = scroller.current;
    const row = selected === undefined ? null : box?.querySelector<HTMLElement>(`[data-key="${selected}"]`);
    // Within the table only: the page stays where it is.
    if (box && row) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }, [selected]);
  const table = () => ({
    head: [text.vector, ...RANKS.flatMap((rank) => [text.rank(rank), "p"])],
    rows: vectors.map((vector) => [
      vectorLabel(vector, roles),
      ...vector.lens.flatMap(({ text: token, probability }) => [tokenWords(token), probability.toPrecision(3)]),
    ]),
  });
  return (
    <Frame
      title={text.title}
      hint={text.hint}
      tools={<ExportMenu name="logit-lens" title={text.title} table={table} />}
    >
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard. */}
      <section className={classes.scroller} ref={scroller} tabIndex={0} aria-label={text.title}>
        <table className={classes.table}>
          <caption>{text.caption}</caption>
          <thead>
            <tr>
              <th scope="col">{text.vector}</th>
              {RANKS.map((rank) => (
                <th key={rank} scope="col">
                  {text.rank(rank)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {vectors.map((vector) => (
              <tr key={vector.key} data-key={vector.key} data-selected={vector.key === selected}>
                <th scope="row">
                  <button type="button" onClick={() => selectLatent({ part: "vector", key: vector.key })}>
                    <AgentMark
                      agent={vector.agent}
                      share={roundShare(vector.round, rounds)}
                      hollow={vector.kind === "message"}
                      size={12}
                    />{" "}
                    {vectorLabel(vector, roles)}
                  </button>
                </th>
                {vector.lens.map(({ id, text: token, probability }) => (
                  <td key={id} style={{ "--share": Math.max(0, probability) } as React.CSSProperties}>
                    <span className={classes.token}>{tokenWords(token)}</span>{" "}
                    <span className={classes.number}>
                      {vector.kind === "message" ? probability.toFixed(2) : formatPercent(probability)}
                    </span>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Frame>
  );
}

/** The chain, and who holds which of its facts: what the visitor knows and no agent does. */

import type { RelayQuestion } from "../../../src/index";
import { AgentMark } from "../../components/AgentMark";
import { strings } from "../../strings";
import classes from "./Hands.module.css";

const text = strings.latentRecursion.ring;

export function Hands({ question, roles }: { question: RelayQuestion; roles: readonly string[] }) {
  return (
    <div className={classes.hands}>
      <Chain question={question} />
      <div className={classes.cards}>
        {question.hands.map((hand, agent) => (
          <section key={agent} className={classes.card} aria-label={text.facts(roles[agent] ?? "")}>
            <h3 className={classes.name}>
              <AgentMark agent={agent} /> {roles[agent]} <span>{text.holds}</span>
            </h3>
            <ul>
              {hand.map(({ subject, verb, object }) => {
                const hop = hopOf(question, agent, `${subject} ${verb}`);
                return (
                  <li key={`${subject} ${verb}`} data-hop={hop !== undefined}>
                    {subject} {verb} {object}
                    {hop !== undefined && <b className={classes.badge}>{text.hop(hop + 1)}</b>}
                  </li>
                );
              })}
            </ul>
          </section>
        ))}
      </div>
    </div>
  );
}

function Chain({ question }: { question: RelayQuestion }) {
  return (
    <p className={classes.chain}>
      <b>{question.start}</b>
      {question.chain.map(({ verb, object }, hop) => (
        <span key={hop} className={classes.step}>
          <span className={classes.verb}>
            {verb} <AgentMark agent={question.holders[hop] ?? 0} size={12} />
          </span>
          <b>{object}</b>
        </span>
      ))}
    </p>
  );
}

function hopOf({ chain, holders }: RelayQuestion, agent: number, key: string): number | undefined {
  const hop = chain.findIndex(({ subject, verb }, i) => holders[i] === agent && `${subject} ${verb}` === key);
  return hop < 0 ? undefined : hop;
}

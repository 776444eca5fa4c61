/** Before the first run: what will happen. */
import { strings } from "../../strings";
import classes from "./EmptySteps.module.css";

const text = strings.latentRecursion.empty;
const STEPS = ["read", "think", "hand", "answer"] as const;

export function EmptySteps({ waiting }: { waiting: boolean }) {
  return (
    <section className={classes.empty}>
      <h2 className={classes.title}>{waiting ? strings.latentRecursion.run.waiting : text.title}</h2>
      <p className={classes.body}>{text.body}</p>
      <ol className={classes.steps}>
        {STEPS.map((step) => (
          <li key={step}>
            <Sketch step={step} />
            <p>{text.steps[step]}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The words beside it say the same. */
function Sketch({ step }: { step: (typeof STEPS)[number] }) {
  return (
    <svg className={classes.sketch} viewBox="0 0 120 56" aria-hidden>
      {step === "read" && (
        <>
          <rect className={classes.paper} x="14" y="6" width="92" height="44" rx="6" />
          <path className={classes.line} d="M24 18h66M24 28h48" />
          <rect className={classes.slot} x="24" y="35" width="40" height="9" rx="3" />
        </>
      )}
      {step === "think" && (
        <>
          <circle className={classes.node} cx="60" cy="34" r="15" />
          <path className={classes.arrow} d="M51 21A13 13 0 1 1 69 21" />
          <path className={classes.head} d="M69 21l1-7 5 5z" />
        </>
      )}
      {step === "hand" && (
        <>
          <circle className={classes.node} cx="24" cy="28" r="13" />
          <rect className={classes.node} x="83" y="13" width="28" height="28" rx="4" />
          <path className={classes.arrow} d="M42 28h30" />
          <path className={classes.head} d="M72 23l8 5-8 5z" />
          {[48, 56, 64].map((x) => (
            <circle key={x} className={classes.dot} cx={x} cy="18" r="3" />
          ))}
        </>
      )}
      {step === "answer" && (
        <>
          <rect className={classes.paper} x="14" y="14" width="92" height="28" rx="6" />
          <path className={classes.word} d="M26 28h44" />
        </>
      )}
    </svg>
  );
}

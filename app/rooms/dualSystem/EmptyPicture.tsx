/** Before the first run: what will happen, lane by lane, and the way to start it. */
import { Button, Loader } from "@mantine/core";
import { IconPlayerPlayFilled } from "@tabler/icons-react";
import { type Lane, LaneMark } from "../../components/LaneMark";
import { strings } from "../../strings";
import classes from "./EmptyPicture.module.css";

const text = strings.dualSystem.empty;
const STEPS: readonly { lane: Lane; words: string }[] = [
  { lane: "system2", words: text.steps.plan },
  { lane: "tools", words: text.steps.search },
  { lane: "system1", words: text.steps.pack },
  { lane: "system1", words: text.steps.read },
  { lane: "system2", words: text.steps.back },
];

interface EmptyPictureProps {
  question: string | undefined;
  /** Asked already, while the agent is still loading. */
  waiting: boolean;
  /** Undefined while nothing can be asked. */
  onAsk: (() => void) | undefined;
}

export function EmptyPicture({ question, waiting, onAsk }: EmptyPictureProps) {
  return (
    <div className={classes.empty}>
      <div className={classes.start}>
        <h2 className={classes.title}>{waiting ? strings.dualSystem.run.asked : text.title}</h2>
        {question && <p className={classes.question}>{question}</p>}
        {waiting ? (
          <p className={classes.waiting}>
            <Loader size={16} /> {strings.dualSystem.run.waiting}
          </p>
        ) : (
          <Button leftSection={<IconPlayerPlayFilled size={14} />} disabled={!onAsk} onClick={onAsk}>
            {text.ask}
          </Button>
        )}
        <p className={classes.body}>{text.body}</p>
      </div>
      <ol className={classes.steps}>
        {STEPS.map(({ lane, words }, i) => (
          <li key={i} className={classes.step} data-lane={lane}>
            <p className={classes.lane}>
              <LaneMark lane={lane} /> {strings.dualSystem.lanes[lane]}
            </p>
            <Sketch step={i} />
            <p className={classes.words}>{words}</p>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** A drawing of each step in the picture's own shapes; the words beside it say the same. */
function Sketch({ step }: { step: number }) {
  return (
    <svg className={classes.sketch} viewBox="0 0 120 64" aria-hidden>
      {step === 0 && (
        <>
          <rect className={classes.paper} x="8" y="6" width="104" height="52" rx="6" />
          <path className={classes.line} d="M18 18h74M18 27h52" />
          <rect className={classes.system2} x="18" y="36" width="84" height="14" rx="4" />
        </>
      )}
      {step === 1 &&
        [96, 70, 104, 44, 82].map((width, i) => (
          <rect key={i} className={classes.tools} x="8" y={5 + 11 * i} width={width} height="8" rx="2" />
        ))}
      {step === 2 && <Bins />}
      {step === 3 &&
        [0, 1, 2].map((lane) => (
          <g key={lane}>
            <rect className={classes.paper} x="8" y={4 + 20 * lane} width="104" height="16" rx="4" />
            <rect className={classes.system1} x="8" y={4 + 20 * lane} width="4" height="16" rx="2" />
            <path className={classes.line} d={`M20 ${12 + 20 * lane}h${[64, 28, 76][lane]}`} />
          </g>
        ))}
      {step === 4 && (
        <>
          <rect className={classes.ghost} x="8" y="36" width="104" height="16" rx="4" />
          <rect className={classes.system2} x="8" y="12" width="30" height="16" rx="4" />
          <rect className={classes.system1} x="40" y="12" width="9" height="16" rx="3" />
        </>
      )}
    </svg>
  );
}

function Bins() {
  const bins = [[26, 18], [34, 8], [22]];
  return (
    <>
      <path className={classes.capacity} d="M6 8h108" />
      {bins.map((blocks, bin) => {
        let top = 60;
        return (
          <g key={bin}>
            <path className={classes.wall} d={`M${14 + 34 * bin} 8v52h24v-52`} />
            {blocks.map((height, i) => {
              top -= height;
              return (
                <rect
                  key={i}
                  className={classes.tools}
                  x={16 + 34 * bin}
                  y={top + 1}
                  width="20"
                  height={height - 2}
                  rx="2"
                />
              );
            })}
          </g>
        );
      })}
    </>
  );
}

/** Questions of the world at hand, and the way to a new world. */
import { Button, Loader } from "@mantine/core";
import { IconArrowBackUp, IconSparkles } from "@tabler/icons-react";
import { useMemo } from "react";
import { formatPlural } from "../../format";
import { useWorld } from "../../stores/worldStore";
import { strings } from "../../strings";
import classes from "./PresetList.module.css";
import { freshQuestion, HOME_WORLD, listedQuestions, type RoomSearch } from "./search";

const text = strings.dualSystem.ask;

interface PresetListProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  /** The text of the question that is asked now. */
  asked: string | undefined;
  disabled: boolean;
}

export function PresetList({ search, update, asked, disabled }: PresetListProps) {
  const { world, failure } = useWorld();
  const current = world?.seed === search.world && world.corpus === search.corpus ? world : undefined;
  const listed = useMemo(() => (current ? listedQuestions(search, current.questions) : []), [search, current]);
  return (
    <div>
      <div className={classes.head}>
        <h2 className={classes.heading}>{text.presets}</h2>
        {current && (
          <span className={classes.corpus}>
            {text.corpus(formatPlural(current.articles, text.pieces[current.corpus]), current.seed)}
          </span>
        )}
      </div>
      {failure && (
        <p role="alert">
          {text.worldFailed} {failure}
        </p>
      )}
      {!current && !failure && (
        <p className={classes.making}>
          <Loader size={14} /> {text.making}
        </p>
      )}
      {current && (
        <ul className={classes.list}>
          {listed.map((index) => {
            const { text: question, hops, kind } = current.questions[index]!;
            return (
              <li key={index}>
                <button
                  type="button"
                  className={classes.preset}
                  aria-pressed={question === asked}
                  disabled={disabled}
                  onClick={() => update({ item: index + 1, q: undefined })}
                >
                  <span>{question}</span>
                  <span className={classes.kind}>{kind === "arithmetic" ? text.arithmetic : text.hops(hops)}</span>
                </button>
              </li>
            );
          })}
        </ul>
      )}
      <div className={classes.worlds}>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconSparkles size={14} />}
          disabled={disabled}
          onClick={() => update(freshQuestion())}
        >
          {text.fresh}
        </Button>
        {search.world !== HOME_WORLD && (
          <Button
            variant="subtle"
            size="xs"
            leftSection={<IconArrowBackUp size={14} />}
            disabled={disabled}
            onClick={() => update({ world: HOME_WORLD, item: undefined, q: undefined })}
          >
            {text.home}
          </Button>
        )}
      </div>
      <p className={classes.note}>{text.freshHint}</p>
      <p className={classes.honest}>{text.honest}</p>
    </div>
  );
}

/** A chain of one's own, hop by hop, out of the words that the agents know. */
import { Button, NativeSelect } from "@mantine/core";
import { RELAY_NAMES, RELAY_VERBS, type RelayFact } from "../../../src/index";
import { RELAY_RING } from "../../models";
import { strings } from "../../strings";
import classes from "./ControlPanel.module.css";
import { LIMITS, parseChain, type RoomSearch, writeChain } from "./search";

const text = strings.latentRecursion.question;
const NAMES = [...RELAY_NAMES].sort((a, b) => a.localeCompare(b));
const HOLDERS = RELAY_RING.map(({ role }, i) => ({ value: String(i), label: role }));

interface ChainEditorProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  disabled: boolean;
}

export function ChainEditor({ search, update, disabled }: ChainEditorProps) {
  const chain = parseChain(search.chain ?? "");
  const holders = Array.from(search.holders ?? "", Number);
  const set = (facts: readonly RelayFact[], held: readonly number[] = holders) =>
    update({ chain: writeChain(facts), holders: facts.map((_, hop) => held[hop] ?? 0).join("") });
  // Facts follow each other: whom one hop ends with, the next one begins with.
  const setPerson = (place: number, name: string) =>
    set(
      chain.map((fact, hop) => ({
        ...fact,
        ...(hop === place && { subject: name }),
        ...(hop === place - 1 && { object: name }),
      })),
    );
  const addHop = () => {
    const last = chain.at(-1) as RelayFact;
    const taken = new Set(chain.flatMap(({ subject, object }) => [subject, object]));
    const verb = RELAY_VERBS.find((own) => chain.every((fact) => fact.verb !== own)) as string;
    set([...chain, { subject: last.object, verb, object: NAMES.find((name) => !taken.has(name)) as string }]);
  };
  const select = { size: "xs", disabled } as const;
  return (
    <fieldset className={classes.own}>
      <NativeSelect
        {...select}
        label={text.start}
        data={NAMES}
        value={chain[0]?.subject ?? ""}
        onChange={(event) => setPerson(0, event.currentTarget.value)}
      />
      {chain.map(({ verb, object }, hop) => (
        <div key={hop} className={classes.hop}>
          <NativeSelect
            {...select}
            aria-label={text.verb(hop + 1)}
            data={RELAY_VERBS}
            value={verb}
            onChange={(event) => {
              const chosen = event.currentTarget.value;
              set(chain.map((fact, i) => (i === hop ? { ...fact, verb: chosen } : fact)));
            }}
          />
          <NativeSelect
            {...select}
            aria-label={text.object(hop + 1)}
            data={NAMES}
            value={object}
            onChange={(event) => setPerson(hop + 1, event.currentTarget.value)}
          />
          <NativeSelect
            {...select}
            aria-label={text.holder(hop + 1)}
            data={HOLDERS}
            value={String(holders[hop] ?? 0)}
            onChange={(event) => {
              const holder = Number(event.currentTarget.value);
              set(
                chain,
                chain.map((_, i) => (i === hop ? holder : (holders[i] ?? 0))),
              );
            }}
          />
        </div>
      ))}
      <Button size="xs" variant="default" disabled={disabled || chain.length >= LIMITS.hops.max} onClick={addHop}>
        {text.addHop}
      </Button>
      <Button
        size="xs"
        variant="default"
        disabled={disabled || chain.length <= 1}
        onClick={() => set(chain.slice(0, -1))}
      >
        {text.removeHop}
      </Button>
      <p className={classes.help}>{text.ownHelp}</p>
    </fieldset>
  );
}

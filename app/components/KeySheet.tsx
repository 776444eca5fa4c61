/** What the keys do, in the room that is open: every row of the key table that something offers now. */
import { ActionIcon, Kbd, Modal, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconKeyboard } from "@tabler/icons-react";
import { availableActions, KEY_TABLE, type KeyAction, useKeys, useOfferedKeys } from "../keys";
import { strings } from "../strings";
import classes from "./KeySheet.module.css";

const text = strings.keys;
const GROUPS = ["page", "room", "tour", "run"] as const;

/** @param rooms how many rooms digits open */
export function KeySheet({ rooms }: { rooms: number }) {
  const [opened, { open, close }] = useDisclosure(false);
  useKeys({ sheet: open });
  return (
    <>
      <Tooltip label={text.open} openDelay={400}>
        <ActionIcon variant="default" size={34} className={classes.button} aria-label={text.open} onClick={open}>
          <IconKeyboard size={18} />
        </ActionIcon>
      </Tooltip>
      <Modal
        opened={opened}
        onClose={close}
        title={text.title}
        size="lg"
        closeButtonProps={{ "aria-label": text.close }}
      >
        <Rows rooms={rooms} />
      </Modal>
    </>
  );
}

function Rows({ rooms }: { rooms: number }) {
  const { offers } = useOfferedKeys();
  const offered = availableActions(offers);
  return (
    <div className={classes.groups}>
      {GROUPS.map((group) => {
        const rows = offered.filter((action) => KEY_TABLE[action].group === group);
        if (rows.length === 0) return null;
        return (
          <section key={group} aria-label={text.groups[group]}>
            <h3 className={classes.heading}>{text.groups[group]}</h3>
            <dl className={classes.rows}>
              {rows.map((action) => (
                <div key={action} className={classes.row}>
                  <dt>
                    {keysOf(action, rooms).map((key) => (
                      <Kbd key={key} size="sm">
                        {key}
                      </Kbd>
                    ))}
                  </dt>
                  <dd>{text.actions[action]}</dd>
                </div>
              ))}
            </dl>
          </section>
        );
      })}
    </div>
  );
}

/** A row's keys as they are printed on keyboards. */
function keysOf(action: KeyAction, rooms: number): string[] {
  if (action === "room") return rooms > 1 ? [`1 – ${rooms}`] : ["1"];
  return KEY_TABLE[action].keys.map((key) =>
    key
      .split("+")
      .map((part) => text.names[part as keyof typeof text.names] ?? part.toUpperCase())
      .join(" "),
  );
}

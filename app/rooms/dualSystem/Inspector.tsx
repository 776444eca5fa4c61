/** The selected part of the run to the last token: a panel beside the picture, or a sheet over it on small screens. */
import { CloseButton, Drawer } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { RunView } from "../../engine/runView";
import { useRun } from "../../stores/runStore";
import { clearSelection, type Selection, useSelection } from "../../stores/selectionStore";
import { strings } from "../../strings";
import classes from "./Inspector.module.css";
import { BinsDetail, DocumentDetail, LaneDetail, RefinedDetail, System2Detail } from "./InspectorDetails";

const WIDE = "(min-width: 75em)";

export function Inspector() {
  const selected = useSelection((state) => state.selected);
  const view = useRun((state) => state.view);
  const wide = useMediaQuery(WIDE);
  if (!selected || !view) return null;
  const detail = detailOf(view, selected);
  if (!detail) return null;
  const head = (
    <div className={classes.head}>
      <h2 className={classes.title}>{detail.title}</h2>
      <CloseButton aria-label={strings.inspector.close} onClick={clearSelection} />
    </div>
  );
  if (wide) {
    return (
      <aside className={classes.panel} aria-label={strings.inspector.label}>
        {head}
        <div className={classes.body}>{detail.body}</div>
      </aside>
    );
  }
  return (
    <Drawer.Root opened position="bottom" size="72%" onClose={clearSelection}>
      <Drawer.Overlay />
      <Drawer.Content className={classes.sheet} aria-label={detail.title}>
        {head}
        <Drawer.Body className={classes.body}>{detail.body}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}

function detailOf(view: RunView, selected: Selection) {
  const index = view.turns.findIndex(({ turn }) => turn === selected.turn);
  const turn = view.turns[index];
  if (!turn) return undefined;
  const text = strings.inspector;
  const number = index + 1;
  switch (selected.part) {
    case "system2":
      return { title: text.system2(number), body: <System2Detail turn={turn} /> };
    case "refined":
      return {
        title: view.settings.useSystem1 ? text.refined(number) : text.raw(number),
        body: <RefinedDetail turn={turn} useSystem1={view.settings.useSystem1} />,
      };
    case "bins":
      return { title: text.bins(number), body: <BinsDetail turn={turn} /> };
    case "lane": {
      const lane = turn.lanes.find(({ bin }) => bin === selected.bin);
      return lane && { title: text.lane(number, selected.bin + 1), body: <LaneDetail lane={lane} turn={turn} /> };
    }
    case "document": {
      const document = turn.documents?.[selected.document];
      return (
        document && {
          title: text.document(selected.document + 1, document.title),
          body: <DocumentDetail document={document} index={selected.document} turn={turn} quote={selected.quote} />,
        }
      );
    }
  }
}

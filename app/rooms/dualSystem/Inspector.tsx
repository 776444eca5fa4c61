/** The selected part of the run to the last token. */
import { InspectorPanel } from "../../components/InspectorPanel";
import type { RunView } from "../../engine/runView";
import { clearSelection, type Selection, useSelection } from "../../stores/selectionStore";
import { strings } from "../../strings";
import { BinsDetail, DocumentDetail, LaneDetail, RefinedDetail, System2Detail } from "./InspectorDetails";

/** @param view the run as it is drawn */
export function Inspector({ view }: { view: RunView | undefined }) {
  const selected = useSelection((state) => state.selected);
  if (!selected || !view) return null;
  const detail = detailOf(view, selected);
  if (!detail) return null;
  return (
    <InspectorPanel title={detail.title} onClose={clearSelection}>
      {detail.body}
    </InspectorPanel>
  );
}

function detailOf(view: RunView, selected: Selection) {
  const index = view.turns.findIndex(({ turn }) => turn === selected.turn);
  const turn = view.turns[index];
  if (!turn) return undefined;
  const text = strings.dualSystem.inspector;
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

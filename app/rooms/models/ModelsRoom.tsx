/** What this machine can run: checkpoints of one's own, what is loaded and kept, the device and its self-test. */
import { getRouteApi } from "@tanstack/react-router";
import { useEffect } from "react";
import { ErrorText } from "../../components/ErrorCard";
import { Panel } from "../../components/Panel";
import { RoomFrame } from "../../components/RoomFrame";
import { wantModels } from "../../stores/engineStore";
import { useLibrary } from "../../stores/libraryStore";
import { strings } from "../../strings";
import { CheckpointFrame } from "./CheckpointFrame";
import { DeviceFrame } from "./DeviceFrame";
import { LoadedModels } from "./LoadedModels";
import classes from "./ModelsRoom.module.css";
import { OpenForm } from "./OpenForm";
import { SelfTest } from "./SelfTest";
import { StoreFrame } from "./StoreFrame";
import type { RoomSearch } from "./search";

const route = getRouteApi("/models");
const text = strings.models;

export function ModelsRoom() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const info = useLibrary((state) => state.info);
  useEffect(() => wantModels([]), []);
  const update = (change: Partial<RoomSearch>) =>
    void navigate({ search: (previous) => ({ ...previous, ...change }), replace: true, resetScroll: false });
  return (
    <RoomFrame
      title={strings.rooms.models.title}
      lead={
        <>
          {text.lead.start} <b>{text.lead.device}</b>
          {text.lead.end}
        </>
      }
      panel={
        <Panel label={text.open.title}>
          <OpenForm search={search} update={update} />
        </Panel>
      }
    >
      <div className={classes.parts}>
        <Outcome />
        {info && <CheckpointFrame key={info.handle} info={info} />}
        <LoadedModels />
        <StoreFrame />
        <DeviceFrame />
        <SelfTest />
      </div>
    </RoomFrame>
  );
}

/** How the last try to open or load ended; a failure says which file and why without being asked for details. */
function Outcome() {
  const { problem, failed, cancelled, loaded } = useLibrary();
  const { todo } = text.checkpoint;
  if (problem) {
    const advice = problem.kind in todo ? todo[problem.kind as keyof typeof todo] : todo.other;
    return (
      <ErrorText
        what={failed === "open" ? text.checkpoint.failedToOpen : text.checkpoint.failed}
        why={problem.detail}
        todo={advice}
        detail={problem.detail}
        kind={problem.kind}
      />
    );
  }
  if (!cancelled && loaded === undefined) return null;
  return (
    <p className={classes.notice} role="status">
      {cancelled ? text.checkpoint.cancelled : text.checkpoint.loaded(loaded ?? "")}
    </p>
  );
}

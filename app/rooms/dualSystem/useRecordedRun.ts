/** Shows the recorded run of the address as long as no run of the visitor's stands on the screen. */
import { useEffect, useState } from "react";
import { afterFirstPicture } from "../../components/firstPicture";
import { fetchTrace } from "../../engine/shippedTrace";
import { clearRecorded, openRun, useRun } from "../../stores/runStore";
import { recordedFile } from "./recorded";
import type { RoomSearch } from "./search";

/** Returns whether the engine may start: the first picture is drawn, or there is none to wait for. */
export function useRecordedRun(search: RoomSearch): boolean {
  const file = recordedFile(search);
  const [isReady, setReady] = useState(() => file === undefined || useRun.getState().view !== undefined);
  useEffect(() => {
    if (isReady) return;
    let left = false;
    void afterFirstPicture().then(() => !left && setReady(true));
    return () => {
      left = true;
    };
  }, [isReady]);
  useEffect(() => {
    // A run of the visitor's own stays where it is, whatever the settings say meanwhile.
    const isOwn = () => {
      const { phase, origin } = useRun.getState();
      return origin !== "recorded" && phase !== "idle";
    };
    if (isOwn()) return;
    let wanted = true;
    clearRecorded();
    if (file !== undefined) {
      void fetchTrace(file).then((text) => {
        if (text === undefined || !wanted || isOwn()) return;
        try {
          openRun(text, "recorded");
        } catch {
          // The room then begins empty, as a page without recorded runs does.
        }
      });
    }
    return () => {
      wanted = false;
    };
  }, [file]);
  return isReady;
}

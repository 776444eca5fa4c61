/** Shows the recorded run of the address as long as no run of the visitor's stands on the screen. */
import { useEffect } from "react";
import { clearRecorded, fetchRecorded, openRun, useRun } from "../../stores/runStore";
import { recordedFile } from "./recorded";
import type { RoomSearch } from "./search";

export function useRecordedRun(search: RoomSearch): void {
  const file = recordedFile(search);
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
      void fetchRecorded(file).then((text) => {
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
}

/** Shows the recorded run of the address as long as no run of the visitor's stands on the screen. */
import { useEffect, useState } from "react";
import { afterFirstPicture, isPictureDrawn } from "../../components/firstPicture";
import { fetchTrace } from "../../engine/shippedTrace";
import { clearRecorded, openRun, useRun } from "../../stores/runStore";
import { recordedFile } from "./recorded";
import type { RoomSearch } from "./search";

/** The file of the recorded run that was put on the screen last. */
let opened: string | undefined;

/** A run of the visitor's own stays where it is, whatever the settings say meanwhile. */
function isOwn(): boolean {
  const { phase, origin } = useRun.getState();
  return origin !== "recorded" && phase !== "idle";
}

function isShown(file: string | undefined): boolean {
  return file !== undefined && opened === file && useRun.getState().origin === "recorded";
}

/**
 * Puts the recorded run of an address on the screen, if it has one.
 * @param isWanted whether the address is still the same when the file has arrived
 */
export async function showRecorded(search: RoomSearch, isWanted = () => true): Promise<void> {
  const file = recordedFile(search);
  if (isOwn() || isShown(file)) return;
  clearRecorded();
  if (file === undefined) return;
  const text = await fetchTrace(file);
  if (text === undefined || !isWanted() || isOwn() || isShown(file)) return;
  try {
    openRun(text, "recorded");
    opened = file;
  } catch {
    // The room then begins empty, as a page without recorded runs does.
  }
}

/** Returns whether the engine may start: the first picture is drawn, or there is none to wait for. */
export function useRecordedRun(search: RoomSearch): boolean {
  const file = recordedFile(search);
  const [isReady, setReady] = useState(() => file === undefined || isPictureDrawn());
  useEffect(() => {
    if (isReady) return;
    let left = false;
    void afterFirstPicture().then(() => !left && setReady(true));
    return () => {
      left = true;
    };
  }, [isReady]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what else the address says does not change the file.
  useEffect(() => {
    let left = false;
    void showRecorded(search, () => !left);
    return () => {
      left = true;
    };
  }, [file]);
  return isReady;
}

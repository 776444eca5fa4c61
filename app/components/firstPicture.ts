/** Tells the browser's performance timeline when the first picture of a run stood on the screen. */

/** Name of the mark; its start time is milliseconds since the page was asked for. */
export const FIRST_PICTURE = "twinloop.first-picture";

export function markFirstPicture(): void {
  if (performance.getEntriesByName(FIRST_PICTURE).length > 0) return;
  // The task after a frame's callbacks begins when that frame has been drawn.
  requestAnimationFrame(() => setTimeout(() => performance.mark(FIRST_PICTURE)));
}

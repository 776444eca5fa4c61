/**
 * When the first picture of a recorded run stood on the screen. It comes before everything else: the engine's start
 * takes all cores of a small machine, and would hold it up.
 */

/** Mark on the browser's timeline; its start time is milliseconds since the page was asked for. */
export const FIRST_PICTURE = "twinloop.first-picture";
/** Whatever keeps the picture away, the engine starts after this time. */
const PATIENCE_MS = 2_000;

let drawn = () => {};
const picture = new Promise<void>((resolve) => {
  drawn = resolve;
});

export function isPictureDrawn(): boolean {
  return performance.getEntriesByName(FIRST_PICTURE).length > 0;
}

/** To be called from the layout effect of what was put into the page: it is drawn with the next frame. */
export function markFirstPicture(): void {
  if (isPictureDrawn()) return;
  // The task after a frame's callbacks begins when that frame has been drawn.
  requestAnimationFrame(() =>
    setTimeout(() => {
      performance.mark(FIRST_PICTURE);
      drawn();
    }),
  );
}

/** Resolves when the first picture is drawn, or when waiting for it takes too long. */
export function afterFirstPicture(): Promise<void> {
  return Promise.race([picture, new Promise<void>((resolve) => setTimeout(resolve, PATIENCE_MS))]);
}

/** Keeps the screen on while something runs, where the browser allows it. */
import { useEffect } from "react";

export function useWakeLock(wanted: boolean): void {
  useEffect(() => {
    if (!wanted || !("wakeLock" in navigator)) return;
    let lock: WakeLockSentinel | undefined;
    let isOver = false;
    const take = async () => {
      try {
        const taken = await navigator.wakeLock.request("screen");
        if (isOver) void taken.release();
        else lock = taken;
      } catch {
        // Refused, for want of power for instance: the run goes on without.
      }
    };
    // The browser lets it go when the page is hidden.
    const renew = () => {
      if (document.visibilityState === "visible") void take();
    };
    void take();
    document.addEventListener("visibilitychange", renew);
    return () => {
      isOver = true;
      document.removeEventListener("visibilitychange", renew);
      void lock?.release();
    };
  }, [wanted]);
}

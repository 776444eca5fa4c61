/** The store of checkpoints in this browser, and what the browser says of the room for it. */
import { CheckpointStore } from "../checkpoint/store";
import type { StoreFolder } from "../checkpoint/storeFolder";
import { openOpfs } from "../checkpoint/storeOpfs";
import type { LibraryDeskOptions } from "./libraryDesk";

export function browserLibrary(): Omit<LibraryDeskOptions, "post"> {
  let root: Promise<StoreFolder> | undefined;
  const open = () => {
    root ??= openOpfs("checkpoints");
    // A browser that forbids it now may allow it later.
    root.catch(() => {
      root = undefined;
    });
    return root;
  };
  return {
    store: new CheckpointStore(open),
    async estimate() {
      const { storage } = navigator as { storage?: StorageManager };
      const [figures, persisted] = await Promise.all([storage?.estimate(), storage?.persisted()]);
      const { usage, quota } = figures ?? {};
      return {
        ...(usage !== undefined && { usage }),
        ...(quota !== undefined && { quota }),
        ...(persisted !== undefined && { persisted }),
      };
    },
  };
}

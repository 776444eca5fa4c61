/** Starts the run on the screen again in one of its turns, with its own settings, and compares both. */
import { createContext, useContext } from "react";

/** Undefined while nothing can be started. */
export type StartBranch = ((turn: number, purpose: string) => void) | undefined;

export const BranchContext = createContext<StartBranch>(undefined);

export function useBranch(): StartBranch {
  return useContext(BranchContext);
}

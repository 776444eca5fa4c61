/** What a researcher needs and a class does not: in Lab always, in Learn where a link or the visitor changed it. */
import type { ReactNode } from "react";
import { useInLab } from "./depth";

export function LabOnly({ changed = false, children }: { changed?: boolean; children: ReactNode }) {
  return useInLab() || changed ? children : null;
}

/** Which loaded models are the two systems of a run, for as long as the page is open; by default the shipped agent. */
import { create } from "zustand";
import type { ResearchRequest } from "../../src/worker/protocol";
import { useEngine } from "./engineStore";

export interface SystemsState {
  system1?: string | undefined;
  system2?: string | undefined;
}

export const useSystems = create<SystemsState>(() => ({}));

/** What a request says of it; a model that is not loaded any more is not chosen any more. */
export function chosenSystems(): Pick<ResearchRequest, "system1Model" | "system2Model"> {
  const { system1, system2 } = useSystems.getState();
  const isLoaded = (id: string | undefined): id is string => useEngine.getState().models.some((own) => own.id === id);
  return { ...(isLoaded(system1) && { system1Model: system1 }), ...(isLoaded(system2) && { system2Model: system2 }) };
}

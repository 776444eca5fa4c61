/** Which loaded models are the agents of the ring, for as long as the page is open; by default those of relay. */
import { create } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { ModelInfo } from "../../src/worker/loadProtocol";
import type { AgentSpec, LinkSetInfo } from "../../src/worker/recursionProtocol";
import { RELAY_RING } from "../models";
import { type EngineState, lacksGradients, useEngine } from "./engineStore";

/** Id of a model by that of the agent. */
export type RingState = Readonly<Record<string, string | undefined>>;

export const useRing = create<RingState>(() => ({}));

/** All agents of the page again. */
export function resetRing(): void {
  useRing.setState({}, true);
}

export interface RingAgent extends AgentSpec {
  /** Known once the model is loaded. */
  info?: ModelInfo;
}

/** The agents as a request names them; a model that is not loaded any more is not chosen any more. */
export function ringAgents(): AgentSpec[] {
  return ringOf(useRing.getState(), useEngine.getState()).map(({ id, role, model }) => ({ id, role, model }));
}

/** The agents, and what is known of their models. */
export function useRingAgents(): readonly RingAgent[] {
  const chosen = useRing();
  const models = useEngine(useShallow((state) => state.models));
  return ringOf(chosen, { models });
}

/** Whether an agent runs, or will run, without the tape: no gradients, no fits. */
export function useLacksTape(): boolean {
  const lacks = useEngine(lacksGradients);
  return useFrozenAgent() !== undefined || lacks;
}

/** The first agent through whose model, as it was loaded, gradients do not pass. */
export function useFrozenAgent(): RingAgent | undefined {
  return useRingAgents().find(({ info }) => info && !info.gradients);
}

/** The first agent whose width is not that which a set of links was made for, as far as widths are known. */
export function misfitOf({ agents }: LinkSetInfo, ring: readonly RingAgent[]) {
  return ring
    .map((agent, i) => ({ agent, width: agent.info?.hiddenSize, wanted: agents[i]?.hiddenSize }))
    .find(({ width, wanted }) => width !== undefined && width !== wanted);
}

/** Whether a set of links is there and was made for agents of these widths. */
export function fitsRing(set: LinkSetInfo | undefined, ring: readonly RingAgent[]): boolean {
  return set !== undefined && misfitOf(set, ring) === undefined;
}

function ringOf(chosen: RingState, { models }: Pick<EngineState, "models">): RingAgent[] {
  return RELAY_RING.map((agent) => {
    const own = models.find(({ id, latent }) => latent && id === chosen[agent.id]);
    const info = own ?? models.find(({ id }) => id === agent.model);
    return { ...agent, ...(own && { model: own.id }), ...(info && { info }) };
  });
}

/** The models that the page's rooms use: folders under public/models. */
import type { ModelOrigin, ModelSource } from "../src/worker/loadProtocol";
import type { AgentSpec } from "../src/worker/recursionProtocol";

/** Both systems of the dual-system run. */
export const RESEARCH_AGENT = "twinloop-1m";

/** The ring of relay: two models of different width, three roles. */
export const RELAY_RING: AgentSpec[] = [
  { id: "planner", role: "planner", model: "twinloop-relay-s" },
  { id: "critic", role: "critic", model: "twinloop-relay-m" },
  { id: "solver", role: "solver", model: "twinloop-relay-s" },
];

export const RELAY_MODELS = [...new Set(RELAY_RING.map(({ model }) => model))];

/** Links that were trained before the page was shipped. */
export const SHIPPED_LINKS = "links/relay/";

/** The smallest of the shipped agents: its known tokens tell whether a device computes what it should. */
export const SELF_TEST_AGENT = "twinloop-relay-s";

export function shippedFiles(id: string): Extract<ModelOrigin, { kind: "url" }> {
  return { kind: "url", url: new URL(`models/${id}/`, document.baseURI).href };
}

export function shippedModel(id: string): ModelSource {
  return {
    id,
    origin: shippedFiles(id),
    ...(RELAY_MODELS.includes(id) && { latent: true }),
  };
}

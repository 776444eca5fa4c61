/** The models that the page's rooms use: folders under public/models. */
import { type ModelOrigin, type ModelSource, SELF_TEST_FILE } from "../src/worker/loadProtocol";
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

/** What the folder of a shipped agent holds. */
export const SHIPPED_FILES = [
  "config.json",
  "generation_config.json",
  "model.safetensors",
  "tokenizer.json",
  "tokenizer_config.json",
];

export function shippedFiles(id: string): Extract<ModelOrigin, { kind: "url" }> {
  const files = id === SELF_TEST_AGENT ? [...SHIPPED_FILES, SELF_TEST_FILE] : SHIPPED_FILES;
  return { kind: "url", url: new URL(`models/${id}/`, document.baseURI).href, files };
}

export function shippedModel(id: string): ModelSource {
  return {
    id,
    origin: shippedFiles(id),
    ...(RELAY_MODELS.includes(id) && { latent: true }),
  };
}

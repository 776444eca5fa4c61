/** The models that the page's rooms use: folders under public/models. */
import type { ModelSource } from "../src/worker/protocol";

/** Both systems of the dual-system run. */
export const RESEARCH_AGENT = "twinloop-1m";

export function shippedModel(id: string): ModelSource {
  return { id, url: new URL(`models/${id}/`, document.baseURI).href };
}

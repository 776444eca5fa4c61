/** The agent that the page loads: a folder under public/models. */
export const AGENT = "twinloop-1m";

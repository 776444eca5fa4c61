/** `npm run setup`: installs what `npm test` and `npm run lab` need. Idempotent; seconds when nothing is missing. */

import { runScript, SetupError } from "./lib/script.mjs";
import { setUp } from "./lib/setup.mjs";

await runScript(() => {
  const missing = setUp();
  if (missing.length > 0) throw new SetupError(missing.join("\n"));
  console.error("Set-up is complete.");
});

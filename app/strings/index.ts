/** Every sentence that the page shows, one file a room. Functions take what they name, already formatted. */
import { binPacking } from "./binPacking";
import { dualSystem } from "./dualSystem";
import { engines } from "./engine";
import { frame } from "./frame";
import { latentRecursion } from "./latentRecursion";
import { linkTraining } from "./linkTraining";
import { models } from "./models";
import { tour } from "./tour";

export const strings = {
  ...frame,
  engines,
  dualSystem,
  binPacking,
  latentRecursion,
  linkTraining,
  models,
  tour,
} as const;

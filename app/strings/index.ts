/** Every sentence that the page shows, one file a room. Functions take what they name, already formatted. */
import { dualSystem } from "./dualSystem";
import { frame } from "./frame";

export const strings = { ...frame, dualSystem } as const;

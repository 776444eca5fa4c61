/**
 * How zod works in the page; imported before the first schema is made. Compiling a parser takes longer than all that is
 * parsed here, and is forbidden where a site forbids eval.
 */
import { config } from "zod";

config({ jitless: true });

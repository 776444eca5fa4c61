/** What a Python worker tells its owner. The owner sends programs as plain strings, one at a time, after `ready`. */
export type PythonMessage =
  | { type: "ready" }
  /** What the program printed. */
  | { type: "output"; text: string }
  /** The last line of the program's traceback. */
  | { type: "error"; message: string }
  /** The interpreter is broken, or could not be loaded, and must be thrown away. */
  | { type: "crashed"; message: string };

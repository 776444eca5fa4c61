/** The tools that System 2 has by default, in the order in which its prompt lists them. */
import type { Tool } from "../tool";
import { type PythonRunner, pythonTool } from "./python";
import { DEFAULT_SEARCH_RESULTS, type SearchableDocument, searchTool } from "./search";

/** @throws RangeError when `searchResults` is not a positive integer */
export function standardTools(
  corpus: readonly SearchableDocument[],
  python: PythonRunner,
  searchResults = DEFAULT_SEARCH_RESULTS,
): Tool[] {
  return [searchTool(corpus, searchResults), pythonTool(python)];
}

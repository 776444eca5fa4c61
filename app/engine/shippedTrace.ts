/** Fetches runs that were shipped with the page; the router asks before a room's own code has arrived. */

const fetched = new Map<string, Promise<string | undefined>>();

/**
 * The text of a file under public/, fetched once. Undefined for a page that was delivered without it; after a broken
 * connection the next call tries again.
 */
export function fetchTrace(file: string): Promise<string | undefined> {
  const known = fetched.get(file);
  if (known) return known;
  const fetching = (async () => {
    const response = await fetch(new URL(file, document.baseURI));
    // Servers of single pages answer with a page where a file is missing.
    const isJson = response.ok && response.headers.get("Content-Type")?.includes("json");
    return isJson ? response.text() : undefined;
  })().catch(() => {
    fetched.delete(file);
    return undefined;
  });
  fetched.set(file, fetching);
  return fetching;
}

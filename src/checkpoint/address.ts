/**
 * Addresses as people type or paste them. What opens a server (a name and password before the host, a query such as
 * "?token=…") is told apart from the rest: it serves requests, and must reach no link, no store and no message.
 */

export interface Address {
  /** Without name, password, query and fragment: what may be shown and kept. */
  url: string;
  /** What each request to the server carries, without "?". */
  query?: string;
  /** Value of the header of that name, out of name and password: `fetch` refuses addresses that hold them. */
  authorization?: string;
}

/** @returns `undefined` for what is no address of the web */
export function parseAddress(typed: string): Address | undefined {
  let url: URL;
  try {
    url = new URL(typed.trim());
  } catch {
    return undefined;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  const query = url.search.slice(1);
  const { username, password } = url;
  url.search = "";
  url.hash = "";
  url.username = "";
  url.password = "";
  return {
    // Setters leave a bare "?" or "#" out as well.
    url: url.href,
    ...(query !== "" && { query }),
    ...((username !== "" || password !== "") && { authorization: basic(username, password) }),
  };
}

/** `fetch` with what opens an address's server. Browsers show the header to no other host after a redirect. */
export function fetchFrom({ query, authorization }: Address, fetchFile: typeof fetch): typeof fetch {
  if (query === undefined && authorization === undefined) return fetchFile;
  return (input, init) => {
    const headers = new Headers(init?.headers);
    if (authorization !== undefined) headers.set("Authorization", authorization);
    return fetchFile(query === undefined ? input : `${input}?${query}`, { ...init, headers });
  };
}

/** A part of a path in readable form; what is not well encoded stays as it is. */
export function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Source: RFC 7617, which takes the characters as UTF-8. */
function basic(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${decodedPart(username)}:${decodedPart(password)}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

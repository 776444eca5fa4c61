/** pdf.js's tables of characters, which some PDF files in Chinese, Japanese and Korean need; fetched one by one. */
/// <reference types="vite/types/importMeta.d.ts" />

const urls = import.meta.glob<string>("/node_modules/pdfjs-dist/cmaps/*.bcmap", {
  query: "?url",
  import: "default",
  eager: true,
});

/** @throws Error when there is no table of this name, or it cannot be fetched */
export async function fetchCMap(name: string): Promise<Uint8Array> {
  const url = urls[`/node_modules/pdfjs-dist/cmaps/${name}`];
  if (url === undefined) throw new Error(`${name} is not at hand`);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${name}: the server answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

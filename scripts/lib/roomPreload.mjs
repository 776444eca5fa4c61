/**
 * A plugin of Vite: a script in the built page that asks for a room's code, styles, fonts and recorded run at once, while the
 * page's own code is still on its way. Without it they would be asked for one after the other, when the router has run.
 * A browser that does not run it loses time only.
 */

/** What the page runs first: no import, no newer syntax than the page's own code has. */
const HINT = `(rooms, fonts, first) => {
  const [path, search] = location.hash.replace(/^#\\/?/, "").split("?");
  const room = rooms[path || first];
  const add = (rel, href, as) => document.head.append(Object.assign(document.createElement("link"), { rel, href, as, crossOrigin: "" }));
  fonts.forEach((href) => add("preload", href, "font"));
  if (!room) return;
  room.styles.forEach((href) => add("preload", href, "style"));
  room.scripts.forEach((href) => add("modulepreload", href, "script"));
  if (!search) room.data.forEach((href) => add("preload", href, "fetch"));
}`;

/** Path of a room in the address, by the folder of its code: "dualSystem" is opened at "#/dual-system". */
const pathOf = (/** @type {string} */ folder) => folder.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * @param {{ first: string, fonts: readonly string[], data: Readonly<Record<string, readonly string[]>> }} options
 * `first`: the room that opens without an address; `fonts`: names of those that every room draws with, which would be
 * asked for when text is laid out, and lay it out again; `data`: by a room's path, files under public/ that it draws first when
 * its address names no settings
 * @returns {import("vite").Plugin}
 */
export function roomPreload({ first, fonts, data }) {
  return {
    name: "room-preload",
    apply: "build",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle, chunk: entry }) {
        if (!bundle || !entry) return html;
        const known = filesOf(entry, bundle);
        /** @type {Record<string, { scripts: string[], styles: string[], data: readonly string[] }>} */
        const rooms = {};
        for (const chunk of Object.values(bundle)) {
          if (chunk.type !== "chunk") continue;
          const folder = /\/app\/rooms\/(\w+)\/\w+Room\.tsx$/.exec(chunk.facadeModuleId ?? "")?.[1];
          if (folder === undefined) continue;
          const files = [...filesOf(chunk, bundle)].filter((file) => !known.has(file)).map((file) => `./${file}`);
          rooms[pathOf(folder)] = {
            scripts: files.filter((file) => file.endsWith(".js")),
            styles: files.filter((file) => file.endsWith(".css")),
            data: (data[pathOf(folder)] ?? []).map((file) => `./${file}`),
          };
        }
        for (const path of [first, ...Object.keys(data)]) {
          if (!(path in rooms)) throw new Error(`room-preload: no room was built for the path "${path}"`);
        }
        const drawn = Object.keys(bundle).filter((file) => fonts.some((name) => file.includes(`/${name}-`)));
        if (drawn.length !== fonts.length) throw new Error(`room-preload: of ${fonts} only ${drawn} were built`);
        const values = [rooms, drawn.map((file) => `./${file}`), first];
        const script = `(${HINT})(${values.map((value) => JSON.stringify(value)).join(", ")});`;
        // Before all styles, which a script waits for; after the character set, which has to stand at the beginning.
        return html.replace(/<meta charset="[^"]*" \/>/, (meta) => `${meta}\n    <script>${script}</script>`);
      },
    },
  };
}

/**
 * All that has to be there before a chunk runs.
 * @param {import("vite").Rollup.OutputChunk} chunk
 * @param {import("vite").Rollup.OutputBundle} bundle
 * @param {Set<string>} [files]
 */
function filesOf(chunk, bundle, files = new Set()) {
  if (files.has(chunk.fileName)) return files;
  files.add(chunk.fileName);
  for (const style of chunk.viteMetadata?.importedCss ?? []) files.add(style);
  for (const name of chunk.imports) {
    const imported = bundle[name];
    if (imported?.type === "chunk") filesOf(imported, bundle, files);
  }
  return files;
}

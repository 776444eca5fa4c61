/** app/mantine.css has the styles of every Mantine component that the page uses, and of what these are made of. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const MANTINE = resolve("node_modules/@mantine/core");
const read = (path: string) => readFileSync(path, "utf8");

/** What the page imports from Mantine by name. */
function importedNames(): Set<string> {
  const names = new Set<string>();
  for (const path of readdirSync("app", { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(path)) continue;
    for (const [, list] of read(join("app", path)).matchAll(/import \{([^}]*)\} from "@mantine\/core"/g)) {
      for (const name of list!.split(",")) names.add(name.trim());
    }
  }
  return names;
}

/** Files of Mantine in which the exports of these names are made. */
function filesOf(names: ReadonlySet<string>): string[] {
  const files: string[] = [];
  for (const [, list, from] of read(join(MANTINE, "esm/index.mjs")).matchAll(/import \{([^}]*)\} from "([^"]+)"/g)) {
    if (list!.split(",").some((name) => names.has(name.trim()))) files.push(resolve(MANTINE, "esm", from!));
  }
  return files;
}

/** Names of the classes that the files and all that they import put on elements. */
function classesOf(files: readonly string[]): Set<string> {
  const seen = new Set<string>();
  const classes = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    const code = read(path);
    if (path.endsWith(".module.mjs")) for (const [name] of code.matchAll(/\bm_[0-9a-f]+/g)) classes.add(name);
    for (const [, from] of code.matchAll(/from "(\.[^"]+)"/g)) visit(resolve(dirname(path), from!));
  };
  for (const file of files) visit(file);
  return classes;
}

describe("app/mantine.css", () => {
  const imported = [...read("app/mantine.css").matchAll(/@import "@mantine\/core\/styles\/(.+)\.layer\.css"/g)].map(
    ([, name]) => name!,
  );
  const sheet = (name: string) => read(join(MANTINE, `styles/${name}.layer.css`));

  it("holds every sheet that styles a class in use, and no other", () => {
    const classes = classesOf(filesOf(importedNames()));
    expect(classes.size).toBeGreaterThan(50);
    const needed = readdirSync(join(MANTINE, "styles"))
      .filter((file) => file.endsWith(".layer.css"))
      .map((file) => file.replace(".layer.css", ""))
      .filter((name) => [...sheet(name).matchAll(/\.(m_[0-9a-f]+)/g)].some(([, found]) => classes.has(found!)));
    expect(needed).toContain("Button");
    const general = ["baseline", "default-css-variables", "global"];
    expect(imported.toSorted()).toEqual([...general, ...needed].toSorted());
  });

  it("keeps Mantine's order, in which later sheets win", () => {
    const whole = read(join(MANTINE, "styles.layer.css"));
    const places = imported.slice(3).map((name) => whole.indexOf(/\.m_[0-9a-f]+/.exec(sheet(name))![0]));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

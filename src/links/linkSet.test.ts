/** Sets of links in one file: round trips, and every way a set can be wrong. */
import { describe, expect, it } from "vitest";
import { parseSafetensors, type SafetensorsTensor, writeSafetensors } from "../checkpoint/safetensors";
import { linkConfig } from "./linkConfig";
import {
  type LinkSet,
  parseLinkSetManifest,
  readLinkSet,
  readLinkSetFiles,
  writeLinkSet,
  writeLinkSetFiles,
} from "./linkSet";
import { initialLinkTensors } from "./linkTensors";
import type { StoredLink } from "./release";

function stored(kind: "inner" | "outer", inputSize: number, outputSize: number, seed: number): StoredLink {
  const config = linkConfig({ kind, form: kind === "inner" ? "released" : "paper", inputSize, outputSize });
  return { config, tensors: initialLinkTensors(config, { seed, outputScale: 0.1 }) };
}

const set = (): LinkSet => ({
  id: "relay-small",
  task: "relay",
  agents: [
    { id: "planner", model: "twinloop-1m", hiddenSize: 6 },
    { id: "planner.2", model: "twinloop-2m", hiddenSize: 4 },
  ],
  inner: [
    { agent: "planner", link: stored("inner", 6, 6, 1) },
    { agent: "planner.2", link: stored("inner", 4, 4, 2) },
  ],
  outer: [
    { from: "planner", to: "planner.2", link: stored("outer", 6, 4, 3) },
    { from: "planner.2", to: "planner", link: stored("outer", 4, 6, 4) },
  ],
  seeds: { links: 1, data: 20 },
  training: { steps: 400, losses: [2.5, 0.25], command: "lab train outer", settings: { rounds: 3 } },
});

const METADATA = "twinloop.links";

/** The file with its manifest or tensors changed. */
function changed(
  changeManifest: (manifest: Record<string, never>) => void,
  changeTensors: (tensors: SafetensorsTensor[]) => SafetensorsTensor[] = (tensors) => tensors,
): Uint8Array {
  const { tensors, metadata } = parseSafetensors("x", writeLinkSet(set()));
  const manifest = JSON.parse(metadata[METADATA]!);
  changeManifest(manifest);
  return writeSafetensors(changeTensors(tensors), { [METADATA]: JSON.stringify(manifest) });
}

describe("a set of links", () => {
  it("comes back as it was, from one file and from a folder", () => {
    expect(readLinkSet("x", writeLinkSet(set()))).toEqual(set());
    const files = writeLinkSetFiles(set());
    expect([...files.keys()]).toEqual(["links.json", "links.safetensors"]);
    expect(readLinkSetFiles(files)).toEqual(set());
  });

  it("says which agents it is for before the weights are read", () => {
    const manifest = new TextDecoder().decode(writeLinkSetFiles(set()).get("links.json"));
    const { agents, outer } = parseLinkSetManifest("links.json", manifest);
    expect(agents).toEqual(set().agents);
    expect(outer[1]).toEqual({ from: "planner.2", to: "planner", config: set().outer[1]!.link.config });
  });

  it("may lack links, as long as those it has fit", () => {
    const partial = { ...set(), outer: [] };
    expect(readLinkSet("x", writeLinkSet(partial))).toEqual(partial);
  });

  it("refuses to be written when it does not fit", () => {
    const write = (change: Partial<LinkSet>) => () => writeLinkSet({ ...set(), ...change });
    const [planner, other] = set().agents;
    expect(write({ agents: [planner!, planner!] })).toThrow('agents: "planner" is there twice');
    expect(write({ agents: [planner!] })).toThrow('inner link of "planner.2": there is no agent "planner.2"');
    expect(write({ agents: [planner!, { ...other!, hiddenSize: 5 }] })).toThrow(
      'inner link of "planner.2": config.inputSize is 4, and "planner.2" is 5 wide',
    );
    expect(write({ agents: [planner!, { ...other!, id: "a/b" }] })).toThrow("agents.1.id: letters, digits");
    expect(write({ id: "" })).toThrow("id:");
    expect(write({ inner: [{ agent: "planner", link: set().outer[0]!.link }] })).toThrow(
      'inner link of "planner": config.kind is outer',
    );
    expect(write({ outer: [set().outer[0]!, set().outer[0]!] })).toThrow(
      'outer link "planner" -> "planner.2" is there twice',
    );
    const torn = { ...set().outer[0]!.link, tensors: set().outer[0]!.link.tensors.slice(1) };
    expect(write({ outer: [{ from: "planner", to: "planner.2", link: torn }] })).toThrow('missing "proj1.weight"');
  });

  it("names what is wrong in a file", () => {
    const read =
      (...change: Parameters<typeof changed>) =>
      () =>
        readLinkSet("x.safetensors", changed(...change));
    expect(
      read(
        () => {},
        (tensors) => tensors.slice(1),
      ),
    ).toThrow('x.safetensors: inner link of "planner": inner link of the form released: missing "proj1.weight"');
    const renamed = (tensors: SafetensorsTensor[]) => [
      { ...tensors[0]!, name: "inner/nobody/proj1.weight" },
      ...tensors,
    ];
    expect(read(() => {}, renamed)).toThrow('x.safetensors: no link has "inner/nobody/proj1.weight"');
    const odd = (tensors: SafetensorsTensor[]) =>
      tensors.map((tensor, i) => (i === 3 ? { ...tensor, shape: [2, 3] } : tensor));
    expect(read(() => {}, odd)).toThrow('"proj2.bias" is [2, 3] instead of [6]');
    expect(read((m) => Object.assign(m, { version: 2 }))).toThrow("x.safetensors: version:");
    expect(read((m) => Object.assign(m, { author: "me" }))).toThrow("author");
    expect(read((m) => Object.assign(m, { seeds: { links: "one" } }))).toThrow("seeds.links");
    expect(() => readLinkSet("x", writeSafetensors([]))).toThrow('its metadata have no "twinloop.links"');
    expect(() => readLinkSet("x", writeSafetensors([], { [METADATA]: "{" }))).toThrow("x: no valid JSON");
  });

  it("refuses a folder of two sets, or half of one", () => {
    const [own, other] = [writeLinkSetFiles(set()), writeLinkSetFiles({ ...set(), seeds: { links: 2 } })];
    const mixed = new Map(own).set("links.json", other.get("links.json")!);
    expect(() => readLinkSetFiles(mixed)).toThrow("they are of different sets");
    own.delete("links.safetensors");
    expect(() => readLinkSetFiles(own)).toThrow("links.safetensors is missing");
    expect(() => readLinkSetFiles(new Map())).toThrow("links.json is missing");
  });
});

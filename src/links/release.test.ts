/** Links as files: round trips of every form, the release's names, and every way a file can be wrong. */
import { describe, expect, it } from "vitest";
import { decodeTensor, encodeTensor } from "../checkpoint/dtype";
import { parseSafetensors, type SafetensorsTensor, writeSafetensors } from "../checkpoint/safetensors";
import { Random } from "../random/random";
import { linkForward } from "../reference/link";
import { isResidual, LINK_FORMS, LINK_KINDS, type LinkConfig, linkConfig } from "./linkConfig";
import { initialLinkTensors } from "./linkTensors";
import {
  adapterTypeOf,
  foldOutputScale,
  INNER_MANIFEST,
  OUTER_MANIFEST,
  readInnerRelease,
  readLink,
  readOuterRelease,
  type StoredLink,
  writeInnerRelease,
  writeLink,
  writeOuterRelease,
} from "./release";

function stored(fields: Parameters<typeof linkConfig>[0], seed = 1): StoredLink {
  const config = linkConfig(fields);
  return { config, tensors: initialLinkTensors(config, { seed, outputScale: config.outputScale ? 0.3 : undefined }) };
}

const innerReleased = () =>
  stored({ kind: "inner", form: "released", inputSize: 6, outputSize: 6, outputScale: false });
const outerReleased = (inputSize = 6, outputSize = 4) =>
  stored({ kind: "outer", form: "released", inputSize, outputSize, outputScale: false });

/** A file with other tensors or metadata. */
function changed(bytes: Uint8Array, change: (tensors: SafetensorsTensor[]) => SafetensorsTensor[], metadata = {}) {
  return writeSafetensors(change(parseSafetensors("x", bytes).tensors), metadata);
}
const reshaped = (name: string, shape: number[]) => (tensors: SafetensorsTensor[]) =>
  tensors.map((tensor) => {
    const bytes = new Uint8Array(4 * shape.reduce((a, b) => a * b, 1));
    return tensor.name === name ? { ...tensor, shape, bytes } : tensor;
  });

describe("a link's file", () => {
  it.each(LINK_KINDS.flatMap((kind) => LINK_FORMS.map((form) => ({ kind, form }))))(
    "gives back a $kind link of the form $form",
    ({ kind, form }) => {
      for (const outputScale of [true, false]) {
        const outputSize = kind === "inner" ? 5 : 3;
        const link = stored({ kind, form, inputSize: 5, outputSize, outputScale });
        const read = readLink("x.safetensors", writeLink(link));
        expect(read.config).toEqual(link.config);
        // Byte for byte, in whatever order.
        const sorted = (tensors: typeof read.tensors) => [...tensors].sort((a, b) => (a.name < b.name ? -1 : 1));
        expect(sorted(read.tensors)).toEqual(sorted(link.tensors));
      }
    },
  );

  it("has the names and shapes of the released state dictionaries", () => {
    const shapes = (link: StoredLink) =>
      Object.fromEntries(parseSafetensors("x", writeLink(link)).tensors.map(({ name, shape }) => [name, shape]));
    expect(shapes(innerReleased())).toEqual({
      "proj1.weight": [6, 6],
      "proj1.bias": [6],
      "proj2.weight": [6, 6],
      "proj2.bias": [6],
      "pre_ln.weight": [6],
      "pre_ln.bias": [6],
      "post_ln.weight": [6],
      "post_ln.bias": [6],
    });
    expect(shapes(outerReleased())).toEqual({
      "proj1.weight": [8, 6],
      "proj1.bias": [8],
      "proj2.weight": [4, 8],
      "proj2.bias": [4],
      "ln_source.weight": [6],
      "ln_source.bias": [6],
      "ln_target.weight": [4],
      "ln_target.bias": [4],
      "residual_proj.weight": [4, 6],
      "residual_proj.bias": [4],
    });
    const plain = stored({ kind: "outer", form: "2layerRes", inputSize: 6, outputSize: 4 });
    expect(shapes(plain)).toMatchObject({ "proj1.weight": [4, 6], output_scale: [1] });
    expect(adapterTypeOf(plain.config)).toBe("outer_res_adapter");
  });

  it("is read without our metadata when the layer norms tell the form, and else by its adapter type", () => {
    const bare = (link: StoredLink) => changed(writeLink(link), (tensors) => tensors);
    expect(readLink("x", bare(innerReleased())).config).toEqual(innerReleased().config);
    expect(readLink("x", bare(outerReleased())).config).toEqual(outerReleased().config);
    const plain = stored({ kind: "outer", form: "2layerRes", inputSize: 6, outputSize: 4, outputScale: false });
    expect(() => readLink("x", bare(plain))).toThrow(
      "x: it has no layer norms, so that its adapter_type must be given",
    );
    expect(readLink("x", bare(plain), { adapterType: "outer_res_adapter" }).config).toEqual(plain.config);
    expect(() => readLink("x", writeLink(plain), { adapterType: "res_adapter" })).toThrow(
      'x: adapter_type is "res_adapter" by the manifest, and "outer_res_adapter" by the file',
    );
    expect(() => readLink("x", bare(plain), { adapterType: "moe_adapter" })).toThrow(
      'x: unknown adapter_type "moe_adapter"; there are paper_adapter, ln_res_adapter',
    );
  });

  it("gets an output scale if it has none and one is given", () => {
    const read = readLink("x", writeLink(innerReleased()), { outputScale: 0.02 });
    expect(read.config.outputScale).toBe(true);
    expect(read.tensors.at(-1)).toEqual({ name: "output_scale", shape: [1], values: Float32Array.of(0.02) });
    // Its own stays.
    const own = stored({ kind: "inner", form: "paper", inputSize: 3, outputSize: 3 });
    expect(readLink("x", writeLink(own), { outputScale: 7 }).tensors.at(-1)!.values).toEqual(Float32Array.of(0.3));
  });

  it.each(["BF16", "F16"] as const)("is read from %s", (dtype) => {
    const bytes = changed(writeLink(innerReleased()), (tensors) =>
      tensors.map((tensor) => {
        return { ...tensor, dtype, bytes: encodeTensor(dtype, decodeTensor("F32", tensor.bytes)) };
      }),
    );
    const read = readLink("x", bytes);
    read.tensors.forEach(({ name, values }) => {
      const exact = innerReleased().tensors.find((tensor) => tensor.name === name)!.values;
      values.forEach((value, i) => {
        expect(Math.abs(value - exact[i]!)).toBeLessThan(0.004);
      });
    });
  });

  it("keeps a hidden width of its own, which the release has not", () => {
    const wide = stored({ kind: "inner", form: "paper", inputSize: 4, outputSize: 4, hiddenSize: 9 });
    expect(readLink("x", writeLink(wide)).config).toEqual(wide.config);
    expect(() =>
      readLink(
        "x",
        changed(writeLink(wide), (t) => t, { adapter_type: "paper_adapter" }),
      ),
    ).toThrow('x: "proj1.weight" is [9, 4] instead of [4, 4]: paper_adapter of 4 outputs has a hidden width of 4');
    const metadata = { adapter_type: "paper_adapter", hidden_size: "nine" };
    expect(() =>
      readLink(
        "x",
        changed(writeLink(wide), (t) => t, metadata),
      ),
    ).toThrow('hidden_size is "nine"');
  });

  it("names the tensor that is wrong", () => {
    const bytes = writeLink(outerReleased());
    const without = (name: string) => changed(bytes, (tensors) => tensors.filter((tensor) => tensor.name !== name));
    expect(() => readLink("x", without("ln_target.bias"))).toThrow(
      'x: outer link of the form released: missing "ln_target.bias"',
    );
    expect(() => readLink("x", without("proj1.weight"))).toThrow('x: "proj1.weight" is missing');
    expect(() => readLink("x", without("residual_proj.weight"))).toThrow('missing "residual_proj.weight"');
    const extra = { name: "proj3.weight", dtype: "F32", shape: [1], bytes: new Uint8Array(4) } as const;
    expect(() =>
      readLink(
        "x",
        changed(bytes, (tensors) => [...tensors, extra]),
      ),
    ).toThrow('x: outer link of the form released: it has no parameters "proj3.weight"');
    expect(() => readLink("x", changed(bytes, reshaped("proj1.bias", [7])))).toThrow(
      '"proj1.bias" is [7] instead of [8]',
    );
    expect(() => readLink("x", changed(bytes, reshaped("proj1.weight", [7, 6])))).toThrow(
      'x: "proj1.weight" is [7, 6] instead of [8, 6]: outer_ln_res_adapter of 4 outputs has a hidden width of 8',
    );
    expect(() => readLink("x", changed(bytes, reshaped("proj2.weight", [4, 8, 1])))).toThrow(
      '"proj2.weight" is [4, 8, 1], no matrix',
    );
    expect(() => readLink("x", changed(bytes, reshaped("ln_source.weight", [6, 1])))).toThrow(
      '"ln_source.weight" is [6, 1] instead of [6]',
    );
    const infinite = changed(bytes, (tensors) =>
      tensors.map((tensor) =>
        tensor.name === "proj2.bias"
          ? { ...tensor, bytes: encodeTensor("F32", [0, Number.POSITIVE_INFINITY, 0, 0]) }
          : tensor,
      ),
    );
    expect(() => readLink("x", infinite)).toThrow('x: tensor "proj2.bias" has a value of Infinity');
  });

  it("names the width, the type and the kind of file", () => {
    const bytes = writeLink(outerReleased());
    expect(() => readLink("x", bytes, { inputSize: 8 })).toThrow("x: inputSize is 6 instead of 8");
    expect(() => readLink("x", bytes, { outputSize: 8 })).toThrow("x: outputSize is 4 instead of 8");
    expect(() => readLink("a.pt", Uint8Array.of(0x50, 0x4b, 3, 4))).toThrow("a.pt is a PyTorch archive: convert it");
    expect(() => readLink("x", bytes.subarray(0, bytes.length - 1))).toThrow("x: truncated");
    const text = new TextDecoder("latin1").decode(bytes).replace('"F32"', '"I32"');
    const wrongType = Uint8Array.from(text, (character) => character.charCodeAt(0));
    expect(() => readLink("x", wrongType)).toThrow('x: tensor "proj1.weight" has unsupported dtype "I32"');
    const inner = changed(writeLink(innerReleased()), reshaped("proj1.weight", [6, 5]));
    expect(() => readLink("x", inner)).toThrow("x: outputSize: an inner link of 5 inputs has as many outputs, not 6");
  });
});

describe("folding the output scale", () => {
  const values = (count: number) => {
    const random = new Random(3);
    return Float64Array.from({ length: count }, () => random.normal());
  };
  const forward = ({ config, tensors }: StoredLink, hidden: Float64Array) => {
    const addsInput = config.kind === "inner" && isResidual(config.form);
    const weights = new Map(tensors.map((tensor) => [tensor.name, Float64Array.from(tensor.values)]));
    return linkForward({ ...(config as LinkConfig), addsInput, weights }, hidden);
  };

  it.each([
    { kind: "inner", form: "released" },
    { kind: "inner", form: "1layer" },
    { kind: "inner", form: "2layer" },
    ...LINK_FORMS.map((form) => ({ kind: "outer", form }) as const),
  ] as const)("leaves the function of $kind links of the form $form", ({ kind, form }) => {
    const link = stored({ kind, form, inputSize: 5, outputSize: kind === "inner" ? 5 : 3 });
    const folded = foldOutputScale(link);
    expect(folded.config.outputScale).toBe(false);
    expect(folded.tensors.some(({ name }) => name === "output_scale")).toBe(false);
    const hidden = values(4 * 5);
    const expected = forward(link, hidden);
    forward(folded, hidden).forEach((value, i) => {
      expect(Math.abs(value - expected[i]!)).toBeLessThan(1e-6);
    });
    expect(foldOutputScale(folded)).toEqual(folded);
  });

  it.each(["paper", "1layerRes", "2layerRes"] as const)("refuses inner links of the form %s", (form) => {
    expect(() => foldOutputScale(stored({ kind: "inner", form, inputSize: 5, outputSize: 5 }))).toThrow(
      `an inner link of the form ${form} hands on its hidden state`,
    );
  });
});

const text = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
const parsed = (files: ReadonlyMap<string, Uint8Array>, name: string) =>
  JSON.parse(new TextDecoder().decode(files.get(name)));

describe("an agent's folder of the release", () => {
  const math = innerReleased();
  const code = stored({ kind: "inner", form: "released", inputSize: 6, outputSize: 6, outputScale: false }, 2);
  const files = () => writeInnerRelease({ math, code });

  it("has the release's manifests and gives back each task's link", () => {
    expect([...files().keys()].sort()).toEqual([
      "adapter(code).safetensors",
      "adapter(math).safetensors",
      "adapter_config.json",
      "innerlink_config.json",
    ]);
    expect(parsed(files(), INNER_MANIFEST)).toEqual({
      tasks: {
        math: { "adapter.pt": "adapter(math).safetensors" },
        code: { "adapter.pt": "adapter(code).safetensors" },
      },
    });
    expect(parsed(files(), "adapter_config.json")).toEqual({ adapter_type: "ln_res_adapter" });
    expect(readInnerRelease(files(), "math").tensors).toEqual(expect.arrayContaining(math.tensors));
    expect(readInnerRelease(files(), "code").tensors).toEqual(expect.arrayContaining(code.tensors));
    expect(readInnerRelease(writeInnerRelease({ math })).config).toEqual(math.config);
  });

  it("is read where manifests name converted archives, or none is there", () => {
    const converted = files().set(
      INNER_MANIFEST,
      text({ role: "Planner", tasks: { math: { "adapter.pt": "adapter(math).pt" } } }),
    );
    expect(readInnerRelease(converted).config).toEqual(math.config);
    expect(readInnerRelease(new Map([["adapter.safetensors", writeLink(math)]])).config).toEqual(math.config);
    expect(readInnerRelease(new Map([["adapter(math).safetensors", writeLink(math)]]), "math").config).toEqual(
      math.config,
    );
  });

  it("names what is wrong", () => {
    const read = (name: string, value: unknown, task?: string) => () =>
      readInnerRelease(files().set(name, text(value)), task);
    expect(() => readInnerRelease(files())).toThrow("innerlink_config.json: choose a task of math, code");
    expect(() => readInnerRelease(files(), "chess")).toThrow("tasks.chess is missing; there are math, code");
    expect(read(INNER_MANIFEST, "{", "math")).toThrow("innerlink_config.json: no valid JSON");
    expect(read(INNER_MANIFEST, { tasks: { math: {} } }, "math")).toThrow(
      "innerlink_config.json: tasks.math.adapter.pt",
    );
    expect(read(INNER_MANIFEST, { tasks: { math: { "adapter.pt": "lost.pt" } } }, "math")).toThrow(
      "lost.safetensors is missing",
    );
    expect(read("adapter_config.json", {}, "math")).toThrow("adapter_config.json: adapter_type");
    expect(read("adapter_config.json", { adapter_type: "res_adapter" }, "math")).toThrow(
      'adapter(math).safetensors: adapter_type is "res_adapter" by the manifest, and "ln_res_adapter" by the file',
    );
    expect(() => readInnerRelease(files(), "math", { inputSize: 7 })).toThrow("inputSize is 6 instead of 7");
    expect(() => readInnerRelease(new Map())).toThrow("adapter.safetensors is missing");
    expect(() => writeInnerRelease({ math: outerReleased() })).toThrow("math: an outer link among inner ones");
    const paper = stored({ kind: "inner", form: "paper", inputSize: 6, outputSize: 6 });
    expect(() => writeInnerRelease({ math, paper })).toThrow("one adapter_type, not ln_res_adapter, paper_adapter");
  });
});

describe("the folder of outer links", () => {
  const links = [
    { key: "outer_12", sourceRole: "Planner", targetRole: "Critic", link: outerReleased(6, 4) },
    { key: "outer_21", sourceRole: "Critic", targetRole: "Planner", link: outerReleased(4, 6) },
  ];
  const release = { paradigm: "sequential", variant: "light", task: "math", links };

  it("has the release's manifest and gives back its links, with tasks and without", () => {
    const files = writeOuterRelease(release);
    expect(parsed(files, OUTER_MANIFEST)).toEqual({
      format_version: 1,
      paradigm: "sequential",
      variant: "light",
      tasks: {
        math: {
          task: "math",
          adapters: [
            {
              legacy_key: "outer_12",
              filename: "Planner-Critic-Outerlink(math).safetensors",
              source_role: "Planner",
              target_role: "Critic",
              adapter_type: "outer_ln_res_adapter",
              in_dim: 6,
              out_dim: 4,
            },
            expect.objectContaining({ legacy_key: "outer_21", in_dim: 4, out_dim: 6 }),
          ],
        },
      },
    });
    for (const task of ["math", undefined]) {
      const read = readOuterRelease(writeOuterRelease({ ...release, task }));
      expect(read).toMatchObject({ paradigm: "sequential", variant: "light", task });
      read.links.forEach(({ link, ...entry }, i) => {
        const { link: original, ...fields } = links[i]!;
        expect(entry).toEqual(fields);
        expect(link.config).toEqual(original.config);
        expect(link.tensors).toEqual(expect.arrayContaining(original.tensors));
      });
    }
  });

  it("names what is wrong", () => {
    const read = (change: (manifest: ReturnType<typeof parsed>) => void, task?: string) => () => {
      const files = writeOuterRelease(release);
      const manifest = parsed(files, OUTER_MANIFEST);
      change(manifest);
      return readOuterRelease(files.set(OUTER_MANIFEST, text(manifest)), task);
    };
    const entry = (manifest: ReturnType<typeof parsed>, i = 0) => manifest.tasks.math.adapters[i];
    expect(() => readOuterRelease(new Map())).toThrow("outerlink_config.json is missing");
    expect(read(() => {}, "code")).toThrow("tasks.code is missing; there are math");
    expect(read((m) => delete m.tasks)).toThrow("outerlink_config.json: adapters: there are none");
    expect(read((m) => delete entry(m).filename)).toThrow("outerlink_config.json: tasks.math.adapters.0.filename");
    expect(read((m) => (entry(m).in_dim = "six"))).toThrow("tasks.math.adapters.0.in_dim");
    expect(read((m) => (entry(m).in_dim = 5))).toThrow(
      "Planner-Critic-Outerlink(math).safetensors: inputSize is 6 instead of 5",
    );
    expect(read((m) => (entry(m).out_dim = 5))).toThrow("outputSize is 4 instead of 5");
    expect(read((m) => (entry(m).adapter_type = "outer_adapter"))).toThrow(
      'adapter_type is "outer_adapter" by the manifest',
    );
    expect(read((m) => (entry(m, 1).legacy_key = "outer_12"))).toThrow("the legacy_key outer_12 is there twice");
    expect(read((m) => (m.format_version = 2))).toThrow("outerlink_config.json: format_version");
    expect(read((m) => (m.tasks.code = m.tasks.math))).toThrow("choose a task of math, code");
    const twice = [links[0]!, { ...links[0]!, key: "outer_13" }];
    expect(() => writeOuterRelease({ ...release, links: twice })).toThrow(
      "outer_13: another link is in Planner-Critic",
    );
    expect(() => writeOuterRelease({ ...release, links: [{ key: "outer_12", link: innerReleased() }] })).toThrow(
      "outer_12: an inner link among outer ones",
    );
  });
});

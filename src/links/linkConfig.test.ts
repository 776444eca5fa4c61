/** Widths, parameter counts and checks of link configs. */
import { describe, expect, it } from "vitest";
import { LINK_FORMS, linkConfig, linkMultiplyAdds, linkParameterCount, parseLinkConfig } from "./linkConfig";

describe("link configs", () => {
  it("have the released code's hidden widths by default", () => {
    const hidden = (kind: "inner" | "outer") =>
      LINK_FORMS.map((form) => {
        const outputSize = kind === "inner" ? 12 : 10;
        return linkConfig({ kind, form, inputSize: 12, outputSize }).hiddenSize;
      });
    // paper, released, 1layer, 1layerRes, 2layer, 2layerRes
    expect(hidden("inner")).toEqual([12, 12, 0, 0, 12, 12]);
    expect(hidden("outer")).toEqual([10, 20, 0, 0, 10, 10]);
  });

  it.each([
    [896, 1_610_000, 4_020_000],
    [1024, 2_100_000, 5_250_000],
    [2560, 13_120_000, 32_790_000],
  ])("count the released links' parameters at width %i", (size, inner, outer) => {
    const count = (kind: "inner" | "outer") =>
      linkParameterCount(linkConfig({ kind, form: "released", inputSize: size, outputSize: size, outputScale: false }));
    // 2 d^2 + 6 d, and 2 di do + 2 do^2 + di do + 2 di + 6 do.
    expect(count("inner")).toBe(2 * size ** 2 + 6 * size);
    expect(count("outer")).toBe(5 * size ** 2 + 8 * size);
    expect(Math.abs(count("inner") - inner)).toBeLessThanOrEqual(5000);
    expect(Math.abs(count("outer") - outer)).toBeLessThanOrEqual(5000);
  });

  it("count multiply-adds of the matrices alone", () => {
    const sizes = { inputSize: 6, outputSize: 4 };
    expect(linkMultiplyAdds(linkConfig({ kind: "outer", form: "released", ...sizes }))).toBe(8 * 6 + 4 * 8 + 4 * 6);
    expect(linkMultiplyAdds(linkConfig({ kind: "outer", form: "1layer", ...sizes }))).toBe(4 * 6);
    expect(linkMultiplyAdds(linkConfig({ kind: "inner", form: "paper", inputSize: 5, outputSize: 5 }))).toBe(50);
  });

  it("name the fields that are wrong", () => {
    const config = linkConfig({ kind: "outer", form: "paper", inputSize: 6, outputSize: 4 });
    const parse = (change: object) => () => parseLinkConfig({ ...config, ...change }, "links.json");
    expect(parse({})()).toEqual(config);
    expect(parse({ inputSize: 0 })).toThrow("links.json: inputSize");
    expect(parse({ outputSize: 2.5 })).toThrow("links.json: outputSize");
    expect(parse({ outputScale: 1 })).toThrow("links.json: outputScale");
    expect(parse({ form: "1layer" })).toThrow("links.json: hiddenSize: the form 1layer has no hidden layer: 0, not 4");
    expect(parse({ dropout: 0.1 })).toThrow("dropout");
    expect(() => parseLinkConfig(null)).toThrow("link config: config");
  });
});

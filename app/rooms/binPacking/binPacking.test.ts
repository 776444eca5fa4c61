/** What the room computes without a picture: links, documents, the common clock, words, the packing by hand, studies. */
import fc from "fast-check";
import { describe, expect, it, test, vi } from "vitest";
import { bestPacking, PACKING_ALGORITHMS, PackingStudy, pack, trap } from "../../../src/index";
import { strings } from "../../strings";
import { drawDocuments, ownCapacity, parseSizes, readSizes, writeSizes } from "./documents";
import { exportJson } from "./exportJson";
import {
  binsOfHand,
  emptyHand,
  type Hand,
  handAsks,
  handOfBins,
  MOST_BY_HAND,
  move,
  readHand,
  resultOf,
  writeHand,
} from "./hand";
import { ALGORITHM_ORDER, countOf, DEFAULTS, freshSeed, PRESETS, readAlgorithms, searchSchema, seedOf } from "./search";
import { runStudy } from "./studyRunner";
import { documentAt, momentsOf, roundEnds, stateAt, trackOf } from "./timeline";
import { largestPacking } from "./usePool";
import { stepWords } from "./words";

const lengthsOf = (given: object) => {
  const search = searchSchema.parse(given);
  return drawDocuments(search, seedOf(search), undefined).map(({ tokens }) => tokens);
};

describe("the link", () => {
  it("is empty for the first picture, on which every algorithm falls behind", () => {
    const search = searchSchema.parse({});
    expect(search).toEqual(DEFAULTS);
    const lengths = lengthsOf({});
    expect(lengths).toHaveLength(countOf(search));
    const bins = ALGORITHM_ORDER.map((algorithm) => pack(lengths, ownCapacity(search, undefined), algorithm));
    expect(bins.map((packing) => packing.bins.length)).toEqual([6, 7, 7, 8, 14]);
    expect(bins[0]!.lowerBound).toBe(6);
  });

  it("keeps what is whole and drops what is damaged, value by value", () => {
    const good = { preset: "own", items: "340-120-88", capacity: 400, algorithms: "nf.ffd", step: 7, hand: "01-" };
    expect(searchSchema.parse(good)).toMatchObject(good);
    const bad = { preset: "best", items: "340--1", capacity: 0, algorithms: "none", step: -1, hand: "!", seed: 3 };
    expect(searchSchema.parse(bad)).toEqual({ ...DEFAULTS, seed: 3 });
    // The router reads a single number as one.
    expect(searchSchema.parse({ items: 340, hand: 0 })).toMatchObject({ items: "340", hand: "0" });
    expect(readAlgorithms("one.ffd.one.x")).toEqual(["ffd", "one"]);
  });

  it("a fresh seed is never the present one", () => {
    const { min, max } = { min: 1, max: 999_999 };
    for (const now of [0, 1, 5, max]) {
      for (const draw of [0, 4.5e-6, 0.5, 1 - 1e-12]) {
        const seed = freshSeed(now, () => draw);
        expect(seed).not.toBe(now);
        expect(seed).toBeGreaterThanOrEqual(min);
        expect(seed).toBeLessThanOrEqual(max);
      }
    }
  });
});

describe("documents", () => {
  it("come from the seed, and from the limits in whatever order they are given", () => {
    expect(lengthsOf({ seed: 5 })).toEqual(lengthsOf({ seed: 5 }));
    expect(lengthsOf({ seed: 5 })).not.toEqual(lengthsOf({ seed: 6 }));
    expect(lengthsOf({ shortest: 90, longest: 90, count: 3 })).toEqual([90, 90, 90]);
    expect(lengthsOf({ shortest: 400, longest: 40 })).toEqual(lengthsOf({}));
  });

  it("of a list or a trap keep their order at seed 0 and are shuffled otherwise", () => {
    const items = writeSizes([9, 8, 7, 6, 5, 4, 3]);
    expect(lengthsOf({ preset: "own", items })).toEqual([9, 8, 7, 6, 5, 4, 3]);
    const other = lengthsOf({ preset: "own", items, seed: 2 });
    expect(other).not.toEqual([9, 8, 7, 6, 5, 4, 3]);
    expect([...other].sort()).toEqual([3, 4, 5, 6, 7, 8, 9]);
    expect(lengthsOf({ preset: "ff" })).toEqual(trap("ff").lengths);
    expect(lengthsOf({ preset: "own" })).toEqual([]);
  });

  it("of a pool bring their titles and their bins", () => {
    const pool = { documents: ["a", "b", "c"].map((title, i) => ({ title, tokens: 10 + i })), capacity: 95 };
    const search = searchSchema.parse({ preset: "articles", count: 2 });
    const drawn = drawDocuments(search, 4, pool);
    expect(drawn).toHaveLength(2);
    for (const document of drawn) expect(pool.documents).toContainEqual(document);
    expect(ownCapacity(search, pool)).toBe(95);
    expect(drawDocuments(search, 4, undefined)).toEqual([]);
    const run = searchSchema.parse({ preset: "run", items: "10-11-12" });
    expect(drawDocuments(run, 0, pool)).toEqual(pool.documents);
    // A link to a run that this tab has not seen still has its sizes.
    expect(drawDocuments(run, 0, { ...pool, documents: [] })).toEqual([{ tokens: 10 }, { tokens: 11 }, { tokens: 12 }]);
  });

  it("bins hold the longest document of a list, and no less than usual", () => {
    expect(ownCapacity(searchSchema.parse({ preset: "own", items: "90-4000" }), undefined)).toBe(4000);
    expect(ownCapacity(searchSchema.parse({ preset: "own", items: "90" }), undefined)).toBe(512);
  });

  test.each<[string, ReturnType<typeof parseSizes>]>([
    ["340, 120;88\n9|7\t5", { sizes: [340, 120, 88, 9, 7, 5] }],
    [" , ;\n", { problem: "empty" }],
    ["340 abc", { problem: "word", word: "abc" }],
    ["340 -5", { problem: "word", word: "-5" }],
    ["1.5", { problem: "word", word: "1.5" }],
    ["5 0", { problem: "size", size: 0 }],
    ["1000001", { problem: "size", size: 1_000_001 }],
    ["9 ".repeat(201), { problem: "many", count: 201 }],
  ])("a pasted list is read or refused by name: %j", (pasted, result) => expect(parseSizes(pasted)).toEqual(result));

  it("a list that was read survives the link", () => {
    const sizes = [1_000_000, 1, 42];
    expect(readSizes(searchSchema.parse({ items: writeSizes(sizes) }).items)).toEqual(sizes);
  });

  it("every preset has its words", () => {
    for (const preset of PRESETS) expect(strings.binPacking.panel[preset].name).not.toBe("");
  });

  it("the last run gives its largest packing", () => {
    const documents = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ title: `t${i}`, tokens: i, text: "" }));
    const turn = (count: number, capacity: number) => ({ documents: documents(count), packed: { capacity } });
    const turns = [turn(2, 90), turn(3, 80), turn(3, 70), { documents: documents(9) }];
    const found = largestPacking({ turns: turns as never });
    expect(found?.documents.map(({ title }) => title)).toEqual(["t0", "t1", "t2"]);
    expect(found?.capacity).toBe(80);
    expect(largestPacking({ turns: [] })).toBeUndefined();
  });
});

describe("the common clock", () => {
  const cases = fc.record({
    lengths: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 14 }),
    capacity: fc.integer({ min: 5, max: 30 }),
  });

  it("shows at its end what each algorithm computes, and at every moment only true questions", () => {
    fc.assert(
      fc.property(cases, ({ lengths, capacity }) => {
        const tracks = PACKING_ALGORITHMS.map((algorithm) => trackOf(lengths, capacity, algorithm));
        const moments = momentsOf(tracks, "comparison");
        expect(roundEnds(moments)).toHaveLength(lengths.length);
        expect(momentsOf(tracks, "document")).toHaveLength(lengths.length);
        for (const track of tracks) {
          let before = 0;
          for (const moment of moments) {
            const state = stateAt(track, moment);
            expect(state.comparisons).toBeGreaterThanOrEqual(before);
            before = state.comparisons;
            const placed = state.bins.reduce((sum, { items }) => sum + items.length, 0);
            expect(placed).toBe(moment.round + (state.placed ? 1 : 0));
            if (state.asking) {
              const { bin, free, length, fits, item } = state.asking;
              expect(free).toBe(capacity - state.bins[bin]!.used);
              expect(fits).toBe(length <= free);
              expect(documentAt(track, moment)).toBe(item);
            }
          }
          const end = stateAt(track, moments.at(-1));
          expect(end.finished).toBe(true);
          expect(end.bins).toEqual(track.packing.bins);
          expect(end.comparisons).toBe(track.figures.comparisons);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("keeps all algorithms at the same document, however much each asks", () => {
    const lengths = [6, 6, 3];
    const tracks = (["ff", "one"] as const).map((algorithm) => trackOf(lengths, 10, algorithm));
    const moments = momentsOf(tracks, "comparison");
    expect(moments).toEqual([
      { round: 0 },
      { round: 1, comparison: 0 },
      { round: 1 },
      { round: 2, comparison: 0 },
      { round: 2 },
    ]);
    const [ff, one] = tracks.map((track) => stateAt(track, moments[1]));
    expect(ff!.asking).toMatchObject({ item: 1, bin: 0, free: 4, fits: false });
    expect(ff!.placed).toBeUndefined();
    // One per call asks nothing: its document lies already.
    expect(one!.placed).toMatchObject({ item: 1, bin: 1 });
    expect(stateAt(tracks[0]!, undefined)).toEqual({ bins: [], comparisons: 0, finished: false });
  });

  it("says in words what is asked and what is done", () => {
    const lengths = [300, 200, 340, 90];
    const say = (algorithm: "ff" | "bf" | "one", moment: { round: number; comparison?: number }) => {
      const track = trackOf(lengths, 512, algorithm);
      return stepWords(track, stateAt(track, moment), lengths, 512);
    };
    expect(say("ff", { round: 1, comparison: 0 })).toBe("Bin 1: does 200 fit in 512 − 300? Yes, 12 to spare.");
    expect(say("ff", { round: 1 })).toBe("Document 2 (200) goes into bin 1, 12 left.");
    expect(say("ff", { round: 2, comparison: 0 })).toBe("Bin 1: does 340 fit in 512 − 500? No, 328 too many.");
    expect(say("ff", { round: 2 })).toBe("No room: document 3 (340) opens bin 2.");
    expect(say("bf", { round: 3, comparison: 1 })).toMatch(/^Bin 2: does 90 fit in 512 − 340\? Yes, 82 to spare; /);
    expect(say("one", { round: 1 })).toBe("Document 2 (200) opens bin 2.");
    expect(say("ff", { round: 3 })).toBe("2 bins, 94 tokens of room left empty.");
    const track = trackOf([700, 10], 512, "ffd");
    expect(stepWords(track, stateAt(track, { round: 0 }), [700, 10], 512)).toBe(
      "Document 1 is longer than a bin: cut from 700 to 512, alone in bin 1.",
    );
    expect(stepWords(track, stateAt(track, undefined), [700, 10], 512)).toBe(strings.binPacking.words.start);
  });
});

describe("the packing by hand", () => {
  const lengths = [6, 5, 4, 25];

  it("goes into a link and comes back, and nothing else does", () => {
    const hand: Hand = [0, undefined, 2, 1];
    expect(writeHand(hand)).toBe("0-21");
    expect(readHand("0-21", 4)).toEqual(hand);
    expect(writeHand(emptyHand(4))).toBeUndefined();
    for (const text of [undefined, "0-2", "0-2111", "0!21", "0-29"]) expect(readHand(text, 4)).toEqual(emptyHand(4));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MOST_BY_HAND }), fc.func(fc.nat()), (count, draw) => {
        const drawn = Array.from({ length: count }, (_, i) => (draw(i) % 5 === 0 ? undefined : draw(i) % count));
        expect(readHand(writeHand(drawn), count)).toEqual(drawn);
      }),
    );
  });

  it("asks the bin as it would be without the document, cuts what is too long, and counts", () => {
    let hand = move(emptyHand(4), 0, 0);
    expect(handAsks(hand, lengths, 10, 1, 0)).toEqual({ length: 5, used: 6, fits: false });
    expect(handAsks(hand, lengths, 10, 2, 0)).toEqual({ length: 4, used: 6, fits: true });
    expect(handAsks(hand, lengths, 10, 0, 0)).toEqual({ length: 6, used: 0, fits: true });
    expect(handAsks(hand, lengths, 10, 3, 1)).toEqual({ length: 10, used: 0, fits: true });
    hand = move(move(move(hand, 2, 0), 3, 3), 1, 1);
    const bins = binsOfHand(hand, lengths, 10);
    expect(bins.map(({ used }) => used)).toEqual([10, 5, 0, 10]);
    expect(resultOf(hand, bins)).toEqual({ bins: 3, open: 0, overfull: false });
    // Smaller bins: the packing stays, and says that it does not hold.
    expect(binsOfHand(hand, lengths, 8).map(({ excess }) => excess)).toEqual([2, 0, 0, 0]);
    expect(resultOf(hand, binsOfHand(hand, lengths, 8)).overfull).toBe(true);
    expect(resultOf(move(hand, 1, undefined), bins).open).toBe(1);
  });

  it("can start from an algorithm's packing", () => {
    const { bins } = pack(lengths, 10, "ffd");
    const hand = handOfBins(bins, 4);
    expect(binsOfHand(hand, lengths, 10).map(({ items }) => [...items].sort())).toEqual(
      bins.map(({ items }) => [...items].sort()),
    );
  });
});

describe("the study", () => {
  const newStudy = (seeds: number) =>
    new PackingStudy({ draw: (seed) => [seed % 7, 3, 5], capacity: 8, algorithms: ["ffd", "nf"], seeds });

  it("works in slices, gives the page its turn between them, and reports", async () => {
    const study = newStudy(10);
    let clock = 0;
    const rest = vi.fn(async () => undefined);
    const done: number[] = [];
    const finished = await runStudy(study, {
      signal: new AbortController().signal,
      onProgress: () => done.push(study.done),
      sliceMs: 3,
      reportMs: 4,
      // Every look at the clock is a millisecond.
      now: () => clock++,
      rest,
    });
    expect(finished).toBe(true);
    expect(study.done).toBe(10);
    expect(rest.mock.calls.length).toBeGreaterThan(2);
    expect(done.length).toBeGreaterThan(1);
    expect(done).toEqual([...done].sort((a, b) => a - b));
  });

  it("stops between two slices and keeps what it has", async () => {
    const study = newStudy(1000);
    const controller = new AbortController();
    const run = runStudy(study, {
      signal: controller.signal,
      onProgress: () => undefined,
      sliceMs: 0,
      rest: async () => {
        if (study.done === 3) controller.abort();
      },
    });
    expect(await run).toBe(false);
    expect(study.done).toBe(3);
    expect(study.rowsNow()[0]!.counts.reduce((sum, count) => sum + count)).toBe(3);
  });
});

test("the export tells documents, bounds and packings, numbered as on the page", () => {
  const tracks = [trackOf([700, 200, 200], 512, "ffd")];
  const documents = [{ tokens: 700, title: "long" }, { tokens: 200 }, { tokens: 200 }];
  const exported = exportJson(documents, 512, tracks, bestPacking([700, 200, 200], 512));
  expect(exported).toMatchObject({
    capacity: 512,
    documents: [{ number: 1, tokens: 700, title: "long" }, { number: 2 }, { number: 3 }],
    lowerBounds: { sum: 2, l2: 2 },
    fewest: { bins: 2, proven: true },
    packings: [
      {
        algorithm: "ffd",
        bins: [
          { documents: [1], used: 512 },
          { documents: [2, 3], used: 400 },
        ],
        truncated: [1],
        figures: { bins: 2, comparisons: 1, cut: 188 },
      },
    ],
  });
});

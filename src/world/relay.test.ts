import { describe, expect, it } from "vitest";
import {
  makeRelay,
  noteText,
  RELAY_NAMES,
  RELAY_VERBS,
  relayAnswer,
  relayCourse,
  relayReply,
  roundsNeeded,
  sentenceText,
} from "./relay";

const seeds = Array.from({ length: 300 }, (_, seed) => seed);

describe("relay questions", () => {
  it("are the same for the same seed and differ between seeds", () => {
    expect(makeRelay(5)).toEqual(makeRelay(5));
    expect(new Set(seeds.map((seed) => JSON.stringify(makeRelay(seed).hands))).size).toBe(seeds.length);
  });

  it("give every fact of the chain to its holder alone, and no two facts for one subject and verb", () => {
    for (const seed of seeds) {
      const { chain, hands, holders, gold } = makeRelay(seed);
      const keys = hands.flat().map(({ subject, verb }) => `${subject} ${verb}`);
      expect(new Set(keys).size).toBe(keys.length);
      chain.forEach((fact, hop) => {
        hands.forEach((hand, agent) => {
          const holds = hand.some((own) => JSON.stringify(own) === JSON.stringify(fact));
          expect(holds).toBe(agent === holders[hop]);
        });
      });
      expect(chain.at(-1)?.object).toBe(gold);
      expect(hands.map((hand) => hand.length)).toEqual([4, 4, 4]);
    }
  });

  it("cannot be answered from the verb or the subject alone", () => {
    for (const seed of seeds) {
      const { chain, hands, holders } = makeRelay(seed);
      chain.forEach(({ verb }, hop) => {
        expect(hands[holders[hop] as number]?.filter((fact) => fact.verb === verb).length).toBeGreaterThan(1);
      });
    }
  });

  it("are solved by faultless agents in exactly the rounds needed", () => {
    for (const seed of seeds) {
      for (const deal of ["with", "against", "random"] as const) {
        const question = makeRelay(seed, { deal });
        const course = relayCourse(question, question.roundsNeeded);
        const last = course.map((round) => relayAnswer(sentenceText(round.at(-1) as never, question.verbs)));
        expect(last.at(-1)).toBe(question.gold);
        for (const early of last.slice(0, -1)) expect(early).not.toBe(question.gold);
      }
    }
  });

  it("need one lap with the ring and one a hop against it", () => {
    expect(roundsNeeded([0, 1, 2], 3)).toBe(1);
    expect(roundsNeeded([2, 1, 0], 3)).toBe(3);
    expect(roundsNeeded([2, 1], 3)).toBe(2);
    expect(roundsNeeded([0, 0], 3)).toBe(2);
    expect(makeRelay(1, { hops: 3, deal: "against" }).roundsNeeded).toBe(3);
    expect(() => makeRelay(1, { hops: 11 })).toThrow("11 hops");
  });
});

describe("messages", () => {
  const question = { start: "Ada", verbs: ["loves", "pays"] };
  const hand = [{ subject: "Bela", verb: "pays", object: "Cato" }];

  it("restate the hop and say what is next", () => {
    const asked = relayReply(question, hand, undefined);
    expect(noteText(asked)).toBe(" Ada loves unknown");
    expect(sentenceText(asked, question.verbs)).toBe(" Ada loves unknown. Ask whom Ada loves.");
    const found = relayReply(question, hand, { subject: "Ada", verb: "loves", object: "Bela" });
    expect(sentenceText(found, question.verbs)).toBe(" Bela pays Cato. The answer is Cato.");
    expect(relayReply(question, hand, found)).toEqual(found);
    expect(relayReply(question, hand, asked)).toEqual(asked);
  });

  it("are read by the grader in both forms", () => {
    expect(relayAnswer(" Bela pays Cato. The answer is Cato.")).toBe("Cato");
    expect(relayAnswer(" Bela pays Cato")).toBe("Cato");
    expect(relayAnswer(" Bela pays unknown")).toBeUndefined();
    expect(relayAnswer(" Bela pays Cato. Ask whom Cato calls.")).toBeUndefined();
    expect(relayAnswer("")).toBeUndefined();
  });

  it("use names and verbs that are told apart", () => {
    expect(new Set([...RELAY_NAMES, ...RELAY_VERBS]).size).toBe(RELAY_NAMES.length + RELAY_VERBS.length);
  });
});

describe("a chain of one's own", () => {
  const chain = [
    { subject: "Ada", verb: "loves", object: "Bela" },
    { subject: "Bela", verb: "pays", object: "Cato" },
  ];

  it("is dealt as told, among look-alikes of the seed", () => {
    const question = makeRelay(4, { chain, holders: [2, 0] });
    expect(question).toMatchObject({ start: "Ada", verbs: ["loves", "pays"], gold: "Cato", roundsNeeded: 2 });
    expect(question.hands[2]).toContainEqual(chain[0]);
    expect(question.hands[0]).toContainEqual(chain[1]);
    expect(question.hands.map(({ length }) => length)).toEqual([4, 4, 4]);
    expect(makeRelay(4, { chain, holders: [2, 0] })).toEqual(question);
  });

  it.each([
    [{ chain: [{ ...chain[0]!, object: "Nobody" }] }, 'hop 1: "Nobody" is no known name'],
    [{ chain: [{ ...chain[0]!, verb: "eats" }] }, 'hop 1: "eats" is no known verb'],
    [{ chain: [chain[0]!, { ...chain[1]!, subject: "Cira" }] }, "hop 2 begins at Cira, and hop 1 ends at Bela"],
    [{ chain: [chain[0]!, { ...chain[1]!, verb: "loves" }] }, 'hop 2: the verb "loves" is there twice'],
    [{ chain: [{ ...chain[0]!, object: "Ada" }] }, "hop 1: Ada loves itself"],
    [{ chain, holders: [0, 3] }, "there is no agent 3 among 3"],
    [{ chain: [] }, "0 hops"],
  ])("is refused by name: %#", (options, message) => {
    expect(() => makeRelay(1, options)).toThrow(message);
  });
});

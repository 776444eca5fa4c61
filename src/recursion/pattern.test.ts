import { describe, expect, it } from "vitest";
import {
  deliberationPattern,
  distillationPattern,
  mixturePattern,
  type Pattern,
  planTurns,
  sequentialPattern,
} from "./pattern";

/** "1:0 <- 2@1 -> 0" : agent 0 in round 1 reads what agent 2 sent in round 1, and sends along edge 0. */
const told = (pattern: Pattern, rounds: number) =>
  planTurns(pattern, rounds).map(({ round, agent, reads, sends, isAnswer }) => {
    const heard = reads.map(({ from, round: sentIn }) => `${from}@${sentIn ?? "-"}`).join(" ");
    return `${round}:${agent} <- ${heard} -> ${isAnswer ? "answer" : sends.join(" ")}`;
  });

describe("plans", () => {
  it("sequential: a ring whose last agent answers in the last round", () => {
    expect(told(sequentialPattern(), 2)).toEqual([
      "1:0 <- 2@- -> 0",
      "1:1 <- 0@1 -> 1",
      "1:2 <- 1@1 -> 2",
      "2:0 <- 2@1 -> 0",
      "2:1 <- 0@2 -> 1",
      "2:2 <- 1@2 -> answer",
    ]);
  });

  it("mixture: specialists side by side, six links in the paper's size", () => {
    const pattern = mixturePattern();
    expect(pattern.edges).toHaveLength(6);
    expect(told(pattern, 2)).toEqual([
      "1:0 <- 3@- -> 0",
      "1:1 <- 3@- -> 1",
      "1:2 <- 3@- -> 2",
      "1:3 <- 0@1 1@1 2@1 -> 3 4 5",
      "2:0 <- 3@1 -> 0",
      "2:1 <- 3@1 -> 1",
      "2:2 <- 3@1 -> 2",
      "2:3 <- 0@2 1@2 2@2 -> answer",
    ]);
  });

  it.each([distillationPattern(), deliberationPattern()])("$name: two agents and two links", (pattern) => {
    expect(pattern.edges).toHaveLength(2);
    expect(told(pattern, 1)).toEqual(["1:0 <- 1@- -> 0", "1:1 <- 0@1 -> answer"]);
  });

  it("have N r - 1 messages and one answer", () => {
    for (const pattern of [sequentialPattern(["a", "b", "c", "d"]), mixturePattern(), distillationPattern()]) {
      for (const rounds of [1, 2, 5]) {
        const turns = planTurns(pattern, rounds);
        expect(turns).toHaveLength(pattern.roles.length * rounds);
        expect(turns.filter(({ isAnswer }) => isAnswer)).toEqual([turns[turns.length - 1]]);
        expect(turns.filter(({ isWriter }) => isWriter)).toHaveLength(rounds);
      }
    }
  });
});

describe("graphs that are no patterns", () => {
  const ring = sequentialPattern();

  it("are named", () => {
    const plan = (change: Partial<Pattern>) => () => planTurns({ ...ring, ...change }, 1);
    expect(() => planTurns(ring, 0)).toThrow("rounds is 0, and must be at least 1");
    expect(() => planTurns(ring, 1.5)).toThrow("rounds is 1.5");
    expect(plan({ groups: [[0], [1]] })).toThrow("groups must name each of the 3 agents once");
    expect(plan({ groups: [[0], [1, 1], [2]] })).toThrow("groups must name each of the 3 agents once");
    expect(plan({ groups: [[0], [2], [1]] })).toThrow("the last agent must be the last to speak, on its own");
    expect(plan({ groups: [[0], [1, 2]] })).toThrow("the last agent must be the last to speak, on its own");
    expect(plan({ groups: [[0, 1], [2]] })).toThrow("agents 0 and 1 work side by side and have an edge");
    expect(plan({ edges: [{ from: 0, to: 3 }] })).toThrow("no edge leads from agent 0 to 3");
    expect(plan({ edges: [{ from: 1, to: 1 }] })).toThrow("no edge leads from agent 1 to 1");
    expect(() => sequentialPattern(["alone"])).toThrow("1 roles, at least 2 are needed");
    expect(() => mixturePattern(["one"])).toThrow("1 specialists, at least 2 are needed");
  });
});

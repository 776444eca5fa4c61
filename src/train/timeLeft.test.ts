import { describe, expect, it } from "vitest";
import { TimeLeft } from "./timeLeft";

describe("TimeLeft", () => {
  it("leaves the first step out, which compiles, and is not moved by one slow step", () => {
    const time = new TimeLeft();
    time.add(9000);
    expect(time.medianMs).toBeUndefined();
    expect(time.seconds(3, 9000)).toBe(27);
    for (const ms of [100, 110, 5000, 120]) time.add(ms);
    expect(time.medianMs).toBe(115);
    expect(time.seconds(10, 120)).toBeCloseTo(1.15, 12);
  });

  it("follows a lasting change", () => {
    const time = new TimeLeft();
    for (let i = 0; i < 50; i++) time.add(100);
    for (let i = 0; i < 20; i++) time.add(300);
    expect(time.medianMs).toBe(300);
  });
});

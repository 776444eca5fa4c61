/** What an embedding page leaves out, and the way back to the whole page. */
import { expect, test } from "vitest";
import { hiddenParts, wholeAddress } from "./embed";

test("embed=1 and names add up, and what means nothing is passed over", () => {
  expect([...hiddenParts({})]).toEqual([]);
  expect([...hiddenParts({ embed: 1 })]).toEqual(["header", "rooms", "intro", "controls"]);
  expect([...hiddenParts({ hide: "export, playback,,results" })]).toEqual(["playback", "export"]);
  expect(hiddenParts({ embed: 1, hide: "inspector,rooms" })).toEqual(
    new Set(["header", "rooms", "intro", "controls", "inspector"]),
  );
});

test("the whole page is at the same address without them", () => {
  expect(wholeAddress("/dual-system?embed=1")).toBe("/dual-system");
  expect(wholeAddress("/dual-system?system1=false&embed=1&step=5&hide=header%2Crooms")).toBe(
    "/dual-system?system1=false&step=5",
  );
  expect(wholeAddress("/dual-system?q=%22embed%3D1%22")).toBe("/dual-system?q=%22embed%3D1%22");
});

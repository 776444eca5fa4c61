/** Tables as CSV keep what is in them, whatever that is. */
import { expect, test } from "vitest";
import { csvOf } from "./exportFormats";

test("cells with commas, quotes and line ends are quoted", () => {
  const table = {
    head: ["step", "loss, mean"],
    rows: [
      [1, 0.5],
      ['a "b"', "two\nlines"],
    ],
  };
  expect(csvOf(table)).toBe('step,"loss, mean"\r\n1,0.5\r\n"a ""b""","two\nlines"\r\n');
});

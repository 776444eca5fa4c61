/** Units and rounding at the edges where the unit changes. */
import { expect, test } from "vitest";
import { formatBytes, formatCount, formatDuration, formatParameters, formatPercent, formatPlural } from "./format";

test("counts are separated and take the right plural", () => {
  expect(formatCount(1234567)).toBe("1,234,567");
  expect(formatPlural(1, "document")).toBe("1 document");
  expect(formatPlural(0, "document")).toBe("0 documents");
});

test("durations change unit where they would read badly", () => {
  expect(formatDuration(0)).toBe("0 ms");
  expect(formatDuration(999.4)).toBe("999 ms");
  expect(formatDuration(999.6)).toBe("1.00 s");
  expect(formatDuration(12_340)).toBe("12.3 s");
  expect(formatDuration(59_949)).toBe("59.9 s");
  expect(formatDuration(59_960)).toBe("1 min 0 s");
  expect(formatDuration(75_000)).toBe("1 min 15 s");
});

test("bytes and parameters keep three digits", () => {
  expect(formatBytes(999)).toBe("999 B");
  expect(formatBytes(1_234_567)).toBe("1.23 MB");
  expect(formatBytes(999_600)).toBe("1.00 MB");
  expect(formatBytes(134_217_728)).toBe("134 MB");
  expect(formatParameters(812_345)).toBe("812,345");
  expect(formatParameters(2_345_678)).toBe("2.35 million");
  expect(formatParameters(1_500_000_000)).toBe("1.50 billion");
  expect(formatPercent(0.756)).toBe("76%");
});

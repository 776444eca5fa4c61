/** Numbers as the page writes them: always with a unit, three significant digits, thousands separated. */

const integer = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** 1234 -> "1,234". */
export function formatCount(value: number): string {
  return integer.format(value);
}

/** "1 document", "3 documents". */
export function formatPlural(value: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(value)} ${value === 1 ? singular : plural}`;
}

function significant(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toFixed(digits);
}

/** 950 -> "950 ms", 1234 -> "1.23 s", 75_000 -> "1 min 15 s". */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${significant(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Decimal units: 1_234_567 -> "1.23 MB". */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = -1;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${significant(value)} ${units[unit]}`;
}

/** 1_234_567 -> "1.23 million". */
export function formatParameters(count: number): string {
  if (count < 1e6) return formatCount(count);
  return count < 1e9 ? `${significant(count / 1e6)} million` : `${significant(count / 1e9)} billion`;
}

/** 0.756 -> "76%". */
export function formatPercent(fraction: number): string {
  return `${Math.round(fraction * 100)}%`;
}

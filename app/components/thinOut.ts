/** Fewer points for a chart, without losing what stands out. */

/**
 * At most `limit` of the items, in order: the first, the last, and of each stretch between them those with the smallest
 * and the largest value, so that a spike of one step stays visible.
 */
export function thinOut<T>(items: readonly T[], measure: (item: T) => number, limit = 1000): readonly T[] {
  if (items.length <= limit) return items;
  const stretches = Math.floor((limit - 2) / 2);
  const inner = items.length - 2;
  const kept: T[] = [items[0] as T];
  for (let stretch = 0; stretch < stretches; stretch++) {
    const start = 1 + Math.floor((stretch * inner) / stretches);
    const end = 1 + Math.floor(((stretch + 1) * inner) / stretches);
    let [lowest, highest] = [start, start];
    for (let i = start + 1; i < end; i++) {
      const value = measure(items[i] as T);
      if (value < measure(items[lowest] as T)) lowest = i;
      if (value > measure(items[highest] as T)) highest = i;
    }
    const both = lowest < highest ? [lowest, highest] : [highest, lowest];
    for (const i of new Set(both)) kept.push(items[i] as T);
  }
  kept.push(items[items.length - 1] as T);
  return kept;
}

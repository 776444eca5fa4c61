/** Axes find the directions of the largest spread, tell its share, and never flip. */
import { expect, test } from "vitest";
import { Random } from "../../src/index";
import { extentOf, fitAxes, project } from "./mapAxes";

/** Spread 3 along one direction, 1 along another, hardly any else. */
function cloud(count: number, size: number): number[][] {
  const random = new Random(2, 1);
  return Array.from({ length: count }, () => {
    const [a, b] = [3 * random.normal(), random.normal()];
    return Array.from({ length: size }, (_, i) => 5 + (i === 1 ? a : i === 3 ? b : 0) + 0.01 * random.normal());
  });
}

test("the axes are the directions of the largest spread, with their shares of the variance", () => {
  const axes = fitAxes(cloud(400, 6))!;
  expect(axes.first[1]).toBeCloseTo(1, 2);
  expect(axes.second[3]).toBeCloseTo(1, 2);
  expect(axes.explained[0]).toBeCloseTo(0.9, 1);
  expect(axes.explained[0] + axes.explained[1]).toBeCloseTo(1, 3);
  const { x, y } = project(
    axes,
    axes.mean.map((value, i) => value + (i === 1 ? 2 : i === 3 ? -1 : 0)),
  );
  expect(x).toBeCloseTo(2, 1);
  expect(y).toBeCloseTo(-1, 1);
});

test("the sign does not depend on the order or the sign of the rows", () => {
  const rows = cloud(100, 6);
  const axes = fitAxes(rows)!;
  const turned = fitAxes([...rows].reverse())!;
  for (const i of [1, 3]) expect(turned.first[i]).toBeCloseTo(axes.first[i]!, 6);
  expect(Math.max(...axes.first)).toBeGreaterThan(0.9);
});

test("too little gives no axes", () => {
  expect(fitAxes([])).toBeUndefined();
  expect(
    fitAxes([
      [1, 2],
      [2, 1],
    ]),
  ).toBeUndefined();
  expect(fitAxes([[1], [2], [3]])).toBeUndefined();
});

test("the extent holds all points", () => {
  const { x, y, radius } = extentOf([
    { x: -1, y: 0 },
    { x: 3, y: 1 },
  ]);
  expect([x, y]).toEqual([1, 0.5]);
  expect(radius).toBeGreaterThan(2);
  expect(extentOf([]).radius).toBe(1);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";
const [{ cutText, niceTop, pathOf, placeAt, runningMean, settledFrom, ticksOf, wideOf }] = await load("first/training/series");

const line = (count, of) => Array.from({ length: count }, (_, at) => [at, of(at)]);

test("a running mean is of as many points at the ends as between them", () => {
  assert.deepEqual(runningMean([[1, 0], [2, 3], [3, 6], [4, 3], [9, 3]], 3), [[1, 3], [2, 3], [3, 4], [4, 4], [9, 4]]);
  for (const count of [201, 1500, 1501, 1e6]) assert.equal(wideOf(count) % 2, 1);
});

test("an axis ends at a round value that is not below the highest", () => {
  for (const most of [0.004, 0.23, 0.3, 1, 1.27, 7, 90]) {
    assert.ok(niceTop(most) >= most * 0.999 && niceTop(most) <= 1.7 * most, `${most}: ${niceTop(most)}`);
  }
  assert.deepEqual([niceTop(0), niceTop(0.28), ...[0.25, 0.5].map((top) => cutText([[1, 0.5], [2, 0.1]], top))], [1, 0.3, " (above 0.25 cut)", ""]);
  assert.deepEqual([[2, 0, 2, 2], [2, 0], [2]].map((values) => settledFrom(values, (value) => value > 1)), [2, 2, 0]);
});

test("the last point that is not after a time", () => {
  const points = [[0, 1], [500, 2], [1000, 3]];
  assert.deepEqual([-1, 0, 499, 500, 9999].map((time) => placeAt(points, time)), [-1, 0, 0, 1, 2]);
  assert.equal(placeAt([], 3), -1);
});

test("ticks of steps are round, begin with 0 and end with the last step", () => {
  assert.deepEqual(ticksOf(1500, 8), [0, 250, 500, 750, 1000, 1250, 1500]);
  assert.deepEqual(ticksOf(3, 8), [0, 1, 2, 3]);
  for (const last of [1, 7, 94, 1501, 12345, 1e6]) {
    const ticks = ticksOf(last, 6);
    assert.ok(ticks.length <= 8 && ticks[0] === 0 && ticks.at(-1) === last && ticks.every(Number.isInteger), `${last}: ${ticks}`);
  }
});

test("a path of many points keeps the lowest and the highest of each pixel", () => {
  const points = line(10000, (at) => at === 5003 ? 9 : at === 5004 ? -9 : 0);
  const path = pathOf(points, (time) => Math.min(time / 10000, 1) * 100, (value) => value);
  assert.ok(path.length < 5000 && path.includes(" 9L") && path.includes(" -9L"));
});

test("a path leaves out what is not a number", () => {
  assert.equal(pathOf([[0, NaN], [1, 2], [2, 3]], (time) => Math.min(time, 100), (value) => value), "M1 2L2 3");
  assert.equal(pathOf([], (time) => Math.min(time, 100), (value) => value), "");
});

// Series of values over steps, for charts.

/** @typedef {[number, number][]} Points times and values */

/** A running mean, over as many points on both sides. A median would hide the loss of a rare class, which few batches have. @param {Points} points @param {number} wide how many points in all @returns {Points} */
export function runningMean(points, wide) {
  const sums = [0];
  for (const [, value] of points) sums.push(sums[sums.length - 1] + value);
  return points.map(([time], at) => {
    const reach = Math.min(wide >> 1, at, points.length - 1 - at);
    return [time, (sums[at + reach + 1] - sums[at - reach]) / (2 * reach + 1)];
  });
}

/** The points of the running mean: an odd number, so that one of them is in the middle. @param {number} count */
export const wideOf = (count) => Math.min(2 * Math.round(count / 100) + 1, 201);

/** The end of an axis that holds a value: 1, 2 or 5 times a power of ten, or a quarter of such a step more. @param {number} most */
export function niceTop(most) {
  if (!(most > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(most));
  return unit * /** @type {number} */ ([1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((factor) => factor * unit >= most * 0.999));
}

/** The place of the last point that is not after a time; -1 if there is none. @param {Points} points @param {number} time */
export function placeAt(points, time) {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Steps for the axis: round ones, as many as there is room for. @param {number} last @param {number} most */
export function ticksOf(last, most) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(last / most, 1)));
  const strides = [1, 2, 2.5, 5, 10].map((factor) => factor * unit).filter((step) => last / step <= most && Number.isInteger(step));
  const stride = strides.find((step) => last % step === 0) ?? strides[0] ?? last;
  const ticks = [];
  for (let step = 0; step < last - stride / 2; step += stride) ticks.push(step);
  return [...ticks, last];
}

/** A line's path. Of more points than pixels, each pixel has the lowest and the highest. @param {Points} points @param {(time: number) => number} xOf @param {(value: number) => number} yOf */
export function pathOf(points, xOf, yOf) {
  const known = points.filter(([, value]) => Number.isFinite(value));
  const places = known.map(([time, value]) => [xOf(time), yOf(value)]);
  const text = (/** @type {number[]} */ [x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  if (places.length < 2 * (xOf(1e9) - xOf(0))) return places.length ? `M${places.map(text).join("L")}` : "";
  const kept = [];
  for (let at = 0; at < places.length;) {
    const pixel = Math.round(places[at][0]);
    let [low, high] = [places[at], places[at]];
    for (; at < places.length && Math.round(places[at][0]) === pixel; at++) {
      if (places[at][1] < low[1]) low = places[at];
      if (places[at][1] > high[1]) high = places[at];
    }
    kept.push(...(low === high ? [low] : low[0] < high[0] ? [low, high] : [high, low]));
  }
  return `M${kept.map(text).join("L")}`;
}

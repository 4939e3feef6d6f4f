// Series of values over steps, for charts.

/** Times and values. */
export type Points = [number, number][];

/** A running mean, of as many points at each place: on both sides of it, or at the ends the first and the last ones. A median would hide the loss of a rare class, which few batches have. @param wide how many points */
export function runningMean(points: Points, wide: number): Points {
  const sums = [0];
  for (const [, value] of points) sums.push(sums[sums.length - 1] + value);
  return points.map(([time], at) => {
    const start = Math.max(Math.min(at - (wide >> 1), points.length - wide), 0);
    return [time, (sums[start + wide] - sums[start]) / wide];
  });
}

/** The points of the running mean: an odd number, so that one of them is in the middle. */
export const wideOf = (count: number) => Math.min(2 * Math.round(count / 100) + 1, 201);

/** The end of an axis that holds a value: 1, 2 or 5 times a power of ten, or a quarter of such a step more. */
export function niceTop(most: number) {
  if (!(most > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(most));
  const factor = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((factor) => factor * unit >= most * 0.999) as number;
  // 3 times 0.1 is 0.3.
  return Number((factor * unit).toPrecision(2));
}

/** The place from which on all values are as asked; their number if the last one is not. */
export const settledFrom = (values: number[], isSo: (value: number) => boolean) =>
  values.findLastIndex((value) => !isSo(value)) + 1;

/** That an axis cuts some of these points. @param top its end */
export const cutText = (points: Points, top: number) =>
  points.some(([, value]) => value > top) ? ` (above ${top} cut)` : "";

/** The place of the last point that is not after a time; -1 if there is none. */
export const placeAt = (points: Points, time: number) => points.findLastIndex(([own]) => own <= time);

/** Steps for the axis: round ones, as many as there is room for. */
export function ticksOf(last: number, most: number) {
  const unit = 10 ** Math.floor(Math.log10(Math.max(last / most, 1)));
  const strides = [1, 2, 2.5, 5, 10]
    .map((factor) => factor * unit)
    .filter((step) => last / step <= most && Number.isInteger(step));
  const stride = strides.find((step) => last % step === 0) ?? strides[0] ?? last;
  const ticks = [];
  for (let step = 0; step < last - stride / 2; step += stride) ticks.push(step);
  return [...ticks, last];
}

/** A line's path, in tenths of pixels. Of more points than pixels, each pixel has the lowest and the highest. */
export function pathOf(points: Points, xOf: (time: number) => number, yOf: (value: number) => number) {
  const isDense = points.length >= 2 * (xOf(1e9) - xOf(0));
  const kept: [number, number][] = [];
  // The pixel that is being filled: where its points begin, and its lowest and highest.
  let [pixel, low, high] = [NaN, 0, 0];
  const close = () => {
    if (Number.isNaN(pixel)) return;
    const [first, second] = low < high ? [low, high] : [high, low];
    kept.push(points[first]);
    if (first !== second) kept.push(points[second]);
  };
  for (let at = 0; at < points.length; at++) {
    const [time, value] = points[at];
    if (!Number.isFinite(value)) continue;
    const own = isDense ? Math.round(xOf(time)) : at;
    if (own !== pixel) {
      close();
      [pixel, low, high] = [own, at, at];
    } else if (yOf(value) < yOf(points[low][1])) low = at;
    else if (yOf(value) > yOf(points[high][1])) high = at;
  }
  close();
  const text = kept
    .map(([time, value]) => `${Math.round(10 * xOf(time)) / 10} ${Math.round(10 * yOf(value)) / 10}`)
    .join("L");
  return text && `M${text}`;
}

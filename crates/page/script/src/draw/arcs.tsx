// Bands from one position to all others, as wide as its attention on them. Where weights are no shares of 1, they share the
// width of all bands, and those below 0 have another colour.

import { range, sum } from "../model/numbers";

const COLUMN = 100;
const HEIGHT = 100;
// The width of all bands together.
const WIDTH = 84;
// The thinnest band is still a line.
const MIN_WIDTH = 0.6;
// Of more keys than these, all but the strongest few are faint.
const MAX_KEYS = 16;
const STRONGEST = 8;

/** The share of each weight in the width of all bands. */
function sharesOf(weights: ArrayLike<number>) {
  const sizes = Array.from(weights, Math.abs);
  const total = Math.max(sum(sizes), 1);
  return sizes.map((size) => size / total);
}

/** Where the bands begin within the query's column: none crosses another. */
export function starts(query: number, weights: ArrayLike<number>) {
  const keys = range(weights.length);
  const order = [...keys.slice(0, query).reverse(), query, ...keys.slice(query + 1).reverse()];
  const total = keys.reduce((sum, key) => sum + weights[key], 0);
  let x = Math.max(Math.min((query + 0.5) * COLUMN - (total * WIDTH) / 2, COLUMN * weights.length - total * WIDTH), 0);
  const found = new Float64Array(weights.length);
  for (const key of order) {
    found[key] = x;
    x += weights[key] * WIDTH;
  }
  return found;
}

/** The outline of a band. @param from its left end at the query @param to its left end at the key */
export function band(from: number, to: number, width: number, rise: number) {
  const top = (height: number) => (HEIGHT - (height * 4) / 3).toFixed(1);
  // At its top a band is about as wide as at its ends; the widest is still an arc.
  const inner = Math.max(rise - width, 0.4 * rise);
  const [left, right] = from < to ? [from, to] : [to, from];
  const [a, b, c, d] = [left, right + width, right, left + width].map((x) => x.toFixed(1));
  return `M${a} ${HEIGHT}C${a} ${top(rise)} ${b} ${top(rise)} ${b} ${HEIGHT}H${c}C${c} ${top(inner)} ${d} ${top(inner)} ${d} ${HEIGHT}Z`;
}

type ArcsProps = { query: number; weights: ArrayLike<number>; isMarked: (key: number) => boolean };

export function Arcs({ query, weights, isMarked }: ArcsProps) {
  const count = weights.length;
  const shares = sharesOf(weights);
  const from = starts(query, shares);
  const furthest = Math.max(query, count - 1 - query, 1);
  const least = count > MAX_KEYS ? shares.toSorted((a, b) => b - a)[STRONGEST - 1] : 0;
  return (
    <svg
      class="arcs"
      viewBox={`0 0 ${count * COLUMN} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      focusable="false"
    >
      {range(count)
        .filter((key) => shares[key] > 0)
        .map((key) => {
          const width = shares[key] * WIDTH;
          const to = (key + 0.5) * COLUMN - width / 2;
          const rise = key === query ? 12 + width / 3 : 22 + (76 * Math.abs(key - query)) / furthest;
          const kind =
            (isMarked(key) ? " marked" : shares[key] < least ? " faint" : "") + (weights[key] < 0 ? " below" : "");
          return (
            <path
              key={key}
              class={`band${kind}`}
              data-key={key}
              d={band(from[key], to, Math.max(width, MIN_WIDTH), rise)}
            />
          );
        })}
    </svg>
  );
}

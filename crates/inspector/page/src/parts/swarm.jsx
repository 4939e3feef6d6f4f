// Trained seeds as a swarm of dots. The dots are for pointers; the table beside them has a button for each seed.

import { signal } from "@preact/signals";
import { fixed } from "../numbers.js";
import { isLearned } from "../swarm.js";
import { useSize } from "./chart.jsx";

/** @typedef {import("../swarm.js").Seed} Seed */

/** What the axes show. @typedef {object} Axes
 * @property {(seed: Seed) => number} x
 * @property {(seed: Seed) => number} y
 * @property {[number, number]} from the lowest values of both axes; the highest are 1
 * @property {string} xName
 * @property {string} yName empty where the height of a dot has no meaning
 * @property {number | null} level uniform attention
 */

// A pointer means the nearest dot within so many pixels.
const REACH = 14;

/** The seed that the reader points at. @type {import("@preact/signals").Signal<Seed | null>} */
export const pointed = signal(null);

/** @param {{ seeds: Seed[], axes: Axes, own: number | null, open: (seed: number) => void }} props */
export function Swarm({ seeds, axes, own, open }) {
  const [ref, { width, unit }] = useSize();
  const edge = { left: axes.yName ? 50 * unit : 16 * unit, right: 14 * unit, top: 10 * unit, bottom: 40 * unit };
  const side = Math.min(width, 430 * unit);
  const height = axes.yName ? side - edge.left + edge.bottom : 150 * unit;
  const [low, high] = [axes.from, 1];
  const place = {
    x: (/** @type {number} */ value) => edge.left + (value - low[0]) / (high - low[0] || 1) * (side - edge.left - edge.right),
    y: (/** @type {number} */ value) => height - edge.bottom - (value - low[1]) / (high - low[1] || 1) * (height - edge.top - edge.bottom),
    low, unit, edge, side, height,
  };
  const near = (/** @type {PointerEvent | MouseEvent} */ event) => {
    const box = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    let [best, distance] = [/** @type {Seed | null} */ (null), REACH * unit];
    for (const seed of seeds) {
      const far = Math.hypot(place.x(axes.x(seed)) - event.clientX + box.left, place.y(axes.y(seed)) - event.clientY + box.top);
      if (far < distance) [best, distance] = [seed, far];
    }
    return best;
  };
  const shown = seeds.find(({ seed }) => seed === own);
  return (
    <div
      id="swarm" ref={ref} onPointerMove={(event) => { pointed.value = near(event); }} onPointerLeave={() => { pointed.value = null; }}
      onClick={(event) => { const seed = near(event); if (seed) open(seed.seed); }}
    >
      {side > 0 && (
        <svg width={side} height={height} role="img" aria-label={`${seeds.length} seeds as dots: ${[axes.yName, axes.xName].filter(Boolean).join(", by ")}; the table has the same numbers`}>
          <Frame axes={axes} place={place} />
          <Dots seeds={seeds} axes={axes} place={place} />
          {shown && <circle class="own" cx={place.x(axes.x(shown))} cy={place.y(axes.y(shown))} r={7 * unit} />}
          <Pointed axes={axes} place={place} />
        </svg>
      )}
    </div>
  );
}

/** @typedef {{ x: (value: number) => number, y: (value: number) => number, low: [number, number], unit: number, edge: { left: number, right: number, top: number, bottom: number }, side: number, height: number }} Place */

/** @param {{ axes: Axes, place: Place }} props */
function Frame({ axes, place: { x, y, low, unit, edge, side, height } }) {
  const values = (/** @type {number} */ from) => [0, 0.25, 0.5, 0.75, 1].map((share) => from + share * (1 - from));
  const bottom = height - edge.bottom;
  return (
    <g>
      {values(low[0]).map((value) => (
        <g key={value}>
          <line class="rule" x1={x(value)} x2={x(value)} y1={edge.top} y2={bottom} />
          <text class="tick middle" x={x(value)} y={bottom + 15 * unit}>{fixed(value, 2)}</text>
        </g>
      ))}
      {axes.yName && values(low[1]).map((value) => (
        <g key={value}>
          <line class="rule" x1={edge.left} x2={side - edge.right} y1={y(value)} y2={y(value)} />
          <text class="tick end" x={edge.left - 5 * unit} y={y(value) + 4 * unit}>{fixed(value, 2)}</text>
        </g>
      ))}
      {axes.level !== null && <path class="level" d={`M${x(axes.level)} ${edge.top}V${bottom}M${edge.left} ${y(axes.level)}H${side - edge.right}`} />}
      <text class="tick middle" x={(edge.left + side - edge.right) / 2} y={bottom + 32 * unit}>{axes.xName}</text>
      {axes.yName && <text class="tick middle" transform={`translate(${12 * unit} ${(edge.top + bottom) / 2}) rotate(-90)`}>{axes.yName}</text>}
    </g>
  );
}

/** @param {{ seeds: Seed[], axes: Axes, place: Place }} props */
function Dots({ seeds, axes, place: { x, y, unit } }) {
  // Two paths draw a thousand dots at once: circles of seeds that learned, and crosses of the others.
  const [far, round] = [(2.6 * unit).toFixed(1), (3.2 * unit).toFixed(1)];
  const [learned, others] = [/** @type {string[]} */ ([]), /** @type {string[]} */ ([])];
  for (const seed of seeds) {
    const [left, top] = [x(axes.x(seed)).toFixed(1), y(axes.y(seed)).toFixed(1)];
    if (isLearned(seed)) learned.push(`M${left} ${top}m-${round} 0a${round} ${round} 0 1 0 ${2 * Number(round)} 0a${round} ${round} 0 1 0-${2 * Number(round)} 0`);
    else others.push(`M${left} ${top}m-${far}-${far}l${2 * Number(far)} ${2 * Number(far)}m0-${2 * Number(far)}l-${2 * Number(far)} ${2 * Number(far)}`);
  }
  return (
    <>
      <path class="learned" d={learned.join("")} stroke-width={0.8 * unit} />
      <path class="unlearned" d={others.join("")} stroke-width={2 * unit} />
    </>
  );
}

/** @param {{ axes: Axes, place: Place }} props */
function Pointed({ axes, place: { x, y, unit } }) {
  const seed = pointed.value;
  return seed && <circle class="pointed" cx={x(axes.x(seed))} cy={y(axes.y(seed))} r={6 * unit} />;
}

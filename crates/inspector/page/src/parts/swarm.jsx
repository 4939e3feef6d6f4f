// Trained seeds as a swarm of dots. The dots are for pointers; the table beside them has a button for each seed.

import { signal } from "@preact/signals";
import { isLearned } from "../swarm.js";
import { useSize } from "./chart.jsx";

/** @typedef {import("../swarm.js").Seed} Seed */

/** What an axis shows. @typedef {object} Axis
 * @property {string} name
 * @property {(seed: Seed) => number} of
 * @property {number} from
 * @property {number} to
 * @property {number[]} ticks
 * @property {(tick: number) => string} text
 */
/** @typedef {{ x: Axis, y: Axis, level: number | null }} Axes with uniform attention, if both axes show attention */

// A pointer means the nearest dot within so many pixels.
const REACH = 14;

/** The seed that the reader points at. @type {import("@preact/signals").Signal<Seed | null>} */
export const pointed = signal(null);

/** @param {{ seeds: Seed[], axes: Axes, own: number | null, open: (seed: number) => void }} props */
export function Swarm({ seeds, axes, own, open }) {
  const [ref, { width, unit }] = useSize();
  const side = Math.min(width, 430 * unit);
  const [left, right, top, bottom] = [56 * unit, side - 14 * unit, 10 * unit, side - 54 * unit];
  const along = (/** @type {Axis} */ { from, to }, /** @type {number} */ value) => (value - from) / (to - from || 1);
  /** @type {Place} */
  const place = {
    x: (value) => left + along(axes.x, value) * (right - left),
    y: (value) => bottom - along(axes.y, value) * (bottom - top),
    left,
    right,
    top,
    bottom,
    unit,
  };
  const near = (/** @type {PointerEvent | MouseEvent} */ event) => {
    const box = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    let [best, distance] = [/** @type {Seed | null} */ (null), REACH * unit];
    for (const seed of seeds) {
      const far = Math.hypot(
        place.x(axes.x.of(seed)) - event.clientX + box.left,
        place.y(axes.y.of(seed)) - event.clientY + box.top,
      );
      if (far < distance) [best, distance] = [seed, far];
    }
    return best;
  };
  const shown = seeds.find(({ seed }) => seed === own);
  return (
    <div
      id="swarm"
      ref={ref}
      onPointerMove={(event) => {
        pointed.value = near(event);
      }}
      onPointerLeave={() => {
        pointed.value = null;
      }}
      onClick={(event) => {
        const seed = near(event);
        if (seed) open(seed.seed);
      }}
    >
      {side > 0 && (
        <svg
          width={side}
          height={bottom + 40 * unit}
          role="img"
          aria-label={`${seeds.length} seeds as dots. Across: ${axes.x.name}. Up: ${axes.y.name}. The table has the same numbers.`}
        >
          <Frame axes={axes} place={place} />
          <Dots seeds={seeds} axes={axes} place={place} />
          {shown && <circle class="own" cx={place.x(axes.x.of(shown))} cy={place.y(axes.y.of(shown))} r={7 * unit} />}
          <Pointed axes={axes} place={place} />
        </svg>
      )}
    </div>
  );
}

/** @typedef {{ x: (value: number) => number, y: (value: number) => number, left: number, right: number, top: number, bottom: number, unit: number }} Place */

/** @param {{ axes: Axes, place: Place }} props */
function Frame({ axes, place: { x, y, left, right, top, bottom, unit } }) {
  return (
    <g>
      {axes.x.ticks.map((tick) => (
        <g key={`x ${tick}`}>
          <line class="rule" x1={x(tick)} x2={x(tick)} y1={top} y2={bottom} />
          <text class="tick middle" x={x(tick)} y={bottom + 15 * unit}>
            {axes.x.text(tick)}
          </text>
        </g>
      ))}
      {axes.y.ticks.map((tick) => (
        <g key={`y ${tick}`}>
          <line class="rule" x1={left} x2={right} y1={y(tick)} y2={y(tick)} />
          <text class="tick end" x={left - 5 * unit} y={y(tick) + 4 * unit}>
            {axes.y.text(tick)}
          </text>
        </g>
      ))}
      {axes.level !== null && (
        <path class="level" d={`M${x(axes.level)} ${top}V${bottom}M${left} ${y(axes.level)}H${right}`} />
      )}
      <text class="tick middle" x={(left + right) / 2} y={bottom + 32 * unit}>
        {axes.x.name}
      </text>
      <text class="tick middle" transform={`translate(${12 * unit} ${(top + bottom) / 2}) rotate(-90)`}>
        {axes.y.name}
      </text>
    </g>
  );
}

/** Circles are seeds that learned, and crosses the others. @param {{ seeds: Seed[], axes: Axes, place: Place }} props */
function Dots({ seeds, axes, place: { x, y, unit } }) {
  const far = 2.8 * unit;
  return (
    <g>
      {seeds.map((seed) => {
        const [across, up] = [x(axes.x.of(seed)), y(axes.y.of(seed))];
        return isLearned(seed) ? (
          <circle key={seed.seed} class="learned" cx={across} cy={up} r={3.4 * unit} />
        ) : (
          <path
            key={seed.seed}
            class="unlearned"
            stroke-width={2 * unit}
            d={`M${across - far} ${up - far}L${across + far} ${up + far}M${across - far} ${up + far}L${across + far} ${up - far}`}
          />
        );
      })}
    </g>
  );
}

/** @param {{ axes: Axes, place: Place }} props */
function Pointed({ axes, place: { x, y, unit } }) {
  const seed = pointed.value;
  return seed && <circle class="pointed" cx={x(axes.x.of(seed))} cy={y(axes.y.of(seed))} r={6 * unit} />;
}

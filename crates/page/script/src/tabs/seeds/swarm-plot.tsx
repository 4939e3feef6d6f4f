// Trained seeds as a swarm of dots over two shares of attention. The dots are for pointers; the table beside them has a button for each seed.

import { signal } from "@preact/signals";
import { fixed, range } from "../../model/numbers";
import { useSize } from "../../draw/dom";
import type { Seed } from "./swarm";

// A pointer means the nearest dot within so many pixels.
const REACH = 14;
const TICKS = range(6).map((part) => part / 5);

/** The seed that the reader points at. */
export const pointed = signal<Seed | null>(null);

type SwarmPlotProps = {
  seeds: Seed[];
  place: (seed: Seed) => [number, number];
  names: [string, string];
  level: number;
  own: number;
  open: (seed: number) => void;
};

/** @param props `level`: uniform attention */
export function SwarmPlot({ seeds, place, names, level, own, open }: SwarmPlotProps) {
  const [ref, { width, unit }] = useSize();
  const side = Math.min(width, 430 * unit);
  const [left, right, top, bottom] = [56 * unit, side - 14 * unit, 10 * unit, side - 54 * unit];
  const x = (share: number) => left + share * (right - left);
  const y = (share: number) => bottom - share * (bottom - top);
  const at = (seed: Seed) => [x(place(seed)[0]), y(place(seed)[1])];
  const near = (event: PointerEvent | MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    let [best, distance] = [null as Seed | null, REACH * unit];
    for (const seed of seeds) {
      const [across, up] = at(seed);
      const far = Math.hypot(across - event.clientX + box.left, up - event.clientY + box.top);
      if (far < distance) [best, distance] = [seed, far];
    }
    return best;
  };
  const shown = seeds.find(({ seed }) => seed === own);
  const lines = (shares: number[]) =>
    shares.map((share) => `M${x(share)} ${top}V${bottom}M${left} ${y(share)}H${right}`).join("");
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
          aria-label={`${seeds.length} seeds as dots. Across: ${names[0]}. Up: ${names[1]}. The table has the same numbers.`}
        >
          <path class="rule" d={lines(TICKS)} />
          {TICKS.map((tick) => (
            <g key={tick}>
              <text class="tick middle" x={x(tick)} y={bottom + 15 * unit}>
                {fixed(tick, 1)}
              </text>
              <text class="tick end" x={left - 5 * unit} y={y(tick) + 4 * unit}>
                {fixed(tick, 1)}
              </text>
            </g>
          ))}
          <path class="level" d={lines([level])} />
          <text class="tick middle" x={(left + right) / 2} y={bottom + 32 * unit}>
            {names[0]}
          </text>
          <text class="tick middle" transform={`translate(${12 * unit} ${(top + bottom) / 2}) rotate(-90)`}>
            {names[1]}
          </text>
          {seeds.map((seed) => (
            <Dot key={seed.seed} seed={seed} at={at(seed)} unit={unit} />
          ))}
          {shown && <circle class="own" cx={at(shown)[0]} cy={at(shown)[1]} r={7 * unit} />}
          <Pointed at={at} unit={unit} />
        </svg>
      )}
    </div>
  );
}

/** A circle for a seed that learned, and a cross for another. */
function Dot({ seed, at: [x, y], unit }: { seed: Seed; at: number[]; unit: number }) {
  const far = 2.8 * unit;
  return seed.learned ? (
    <circle class="learned" cx={x} cy={y} r={3.4 * unit} />
  ) : (
    <path
      class="unlearned"
      d={`M${x - far} ${y - far}L${x + far} ${y + far}M${x - far} ${y + far}L${x + far} ${y - far}`}
    />
  );
}

function Pointed({ at, unit }: { at: (seed: Seed) => number[]; unit: number }) {
  const seed = pointed.value;
  return seed && <circle class="pointed" cx={at(seed)[0]} cy={at(seed)[1]} r={6 * unit} />;
}

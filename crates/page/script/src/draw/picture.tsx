// A matrix of many positions: one pixel per cell, under a drawing of the axes and of the chosen cell.

import { useLayoutEffect, useRef } from "preact/hooks";
import { shorten } from "../model/numbers";
import { change } from "../state/view";
import { move } from "./matrix";
import { reading, shades, type MatrixPanel } from "./matrices";
import { paint } from "./paint";
import { announce } from "./dom";

// The largest side of a picture, in rem: it stays in sight as a whole.
const MAX_SIDE = 29;

type PictureProps = { panel: MatrixPanel; query: number; chosen: number; room: number; rem: number };

/** @param props `room` is the width to fill, in pixels. */
export function Picture({ panel, query, chosen, room, rem }: PictureProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { positions, cells, forbidden, scale, title } = panel;
  useLayoutEffect(() => {
    if (canvas.current && scale) paint(canvas.current, shades(panel, scale), forbidden, scale);
  }, [cells, forbidden, scale]);
  const unit = Math.max(1, rem / 16);
  const [left, top] = [(room < 420 * unit ? 64 : 88) * unit, 40 * unit];
  const size = Math.max(
    3,
    Math.min(12 * unit, Math.floor((room - left - 8) / positions), Math.floor((MAX_SIDE * rem) / positions)),
  );
  const side = positions * size;
  const [width, height] = [left + side + 8, top + side + 8];
  function onClick(event: MouseEvent) {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const place = (at: number, start: number, extent: number) =>
      Math.min(positions - 1, Math.max(0, Math.floor(((at - start) / extent) * positions)));
    change({ query: place(event.clientY, box.top, box.height), key: place(event.clientX, box.left, box.width) });
  }
  function onKeyDown(event: KeyboardEvent) {
    const moved = move(event, positions, query, chosen);
    if (moved) announce(reading(panel, moved.query, moved.key));
  }
  return (
    <div class="picture" id={`grid-${panel.id}`}>
      <p class="caption">
        {title}. {positions} positions: too many for a number in each cell.
      </p>
      <div class="plot" style={{ width: `${width}px`, height: `${height}px` }}>
        <canvas
          class="masked"
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label={`${title}; ${reading(panel, query, chosen)}. The arrow keys choose a cell.`}
          onClick={onClick}
          onKeyDown={onKeyDown}
          style={{ left: `${left}px`, top: `${top}px`, width: `${side}px`, height: `${side}px` }}
        />
        <svg width={width} height={height} aria-hidden="true">
          <text x={left - 6} y={top - 26 * unit} class="tick end">
            query ↓
          </text>
          <text x={left} y={top - 26 * unit} class="tick">
            key →
          </text>
          <Axes panel={panel} left={left} top={top} size={size} unit={unit} />
          <rect x={left} y={top + query * size} width={side} height={size} class="chosen" />
          <rect x={left + chosen * size} y={top + query * size} width={size} height={size} class="chosen" />
        </svg>
      </div>
      <p>{reading(panel, query, chosen)}</p>
    </div>
  );
}

type AxesProps = { panel: MatrixPanel; left: number; top: number; size: number; unit: number };

/** Positions on both axes: those that decide the label, and others where there is room. */
function Axes({ panel, left, top, size, unit }: AxesProps) {
  const every = Math.ceil((26 * unit) / size);
  return panel.tokens.map((token, position) => {
    const middle = (position + 0.5) * size;
    const mark = panel.marks[position] ? "◆" : "";
    const isNear = panel.marks.some((other, at) => other && Math.abs(at - position) < every / 2);
    return mark || (position % every === 0 && !isNear) ? (
      <>
        <text x={left + middle} y={top - 4 * unit} class="tick middle">
          {mark}
          {position}
        </text>
        <text x={left - 5} y={top + middle + 4 * unit} class="tick end">
          {mark}
          {position}: {shorten(token, left < 80 * unit ? 5 : 8)}
        </text>
      </>
    ) : null;
  });
}

// A chart over the steps of a training that is also their scrubber.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { fixed } from "../numbers.js";
import { here } from "../state.js";
import { change, changeSoon, settleAddress, view } from "../view.js";
import { paced } from "./calm.js";
import { beforeName, lastStep } from "./curves.js";
import { startsLooking } from "./marks.js";
import { pathOf, placeAt, ticksOf } from "./series.js";

/** @typedef {import("./curves.js").ChartModel} ChartModel */
/** @typedef {import("./curves.js").Line} Line */
/** @typedef {import("./series.js").Points} Points */

// Few points are shown as points.
const FEW = 12;
/** The step before the reader began to drag. */
let before = 0;

/** The width of an element in pixels, and the size of the root's font as a multiple of the usual one. */
export function useSize() {
  const ref = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [size, setSize] = useState({ width: 0, unit: 1 });
  useLayoutEffect(() => {
    const element = /** @type {HTMLDivElement} */ (ref.current);
    const measure = () => {
      const [width, unit] = [element.clientWidth, parseFloat(getComputedStyle(document.documentElement).fontSize) / 16];
      setSize((before) => (before.width === width && before.unit === unit ? before : { width, unit }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  return /** @type {const} */ ([ref, size]);
}

/** @param {{ chart: ChartModel }} props */
export function Chart({ chart }) {
  const [ref, { width, unit }] = useSize();
  const last = lastStep.value;
  const [left, right] = [34 * unit, 10 * unit];
  const inner = Math.max(width - left - right, 1);
  const xOf = (/** @type {number} */ time) => left + Math.min(time / last, 1) * inner;
  // The legend of a run before takes a line: the first sight still fits into 800 pixels.
  const [top, bottom] = [21 * unit, (beforeName.value ? 84 : 90) * unit];
  const height = bottom + 18 * unit;
  const { low = 0 } = chart;
  const extent = chart.top - low;
  const yOf = (/** @type {number} */ value) => bottom - Math.min((value - low) / extent, 1) * (bottom - top);
  const scrub = scrubber((x) => ((x - left) / inner) * last);
  const place = { xOf, yOf, top, bottom };
  const digits = extent < 0.1 ? 3 : 2;
  return (
    <figure>
      <figcaption>
        <b>{chart.title}</b>
        {chart.lines.map((line) => (
          <Key line={line} key={line.label} />
        ))}
        {beforeName.value && chart.lines.some(({ before }) => before) && (
          <span class="key">
            <Swatch line={{ label: "", style: "before", points: null }} />
            <bdi>in brackets: {beforeName.value}</bdi>
          </span>
        )}
      </figcaption>
      <div class="plot" ref={ref} {...scrub}>
        {width > 0 && (
          <svg
            id={`chart-${chart.name}`}
            class="chart"
            width={width}
            height={height}
            role="img"
            aria-label={`${chart.title}, over the steps of the training`}
          >
            {[0, 0.5, 1].map((share) => (
              <g key={share}>
                <line
                  class="rule"
                  x1={left}
                  x2={width - right}
                  y1={yOf(low + extent * share)}
                  y2={yOf(low + extent * share)}
                />
                <text class="tick end" x={left - 5 * unit} y={yOf(low + extent * share) + 4 * unit}>
                  {fixed(low + extent * share, digits)}
                </text>
              </g>
            ))}
            {ticksOf(last, Math.max(inner / (64 * unit), 1)).map((step) => (
              <text
                key={step}
                class={step === last ? "tick end" : "tick middle"}
                x={step === last ? width - right + 8 * unit : xOf(step)}
                y={height - 3 * unit}
              >
                {step}
              </text>
            ))}
            {chart.level !== undefined && (
              <g>
                <line class="level" x1={left} x2={width - right} y1={yOf(chart.level)} y2={yOf(chart.level)} />
                <text class="tick end" x={width - right - 8 * unit} y={yOf(chart.level) - 3 * unit}>
                  uniform
                </text>
              </g>
            )}
            <Start place={place} middle={width / 2} unit={unit} />
            {chart.lines.map(
              (line) =>
                line.before && (
                  <path
                    key={`before ${line.label}`}
                    class={`line before ${line.style}`}
                    style={stroke(line)}
                    d={pathIn(line.before, place)}
                  />
                ),
            )}
            {chart.lines.map((line) => (
              <Curve key={line.label} line={line} place={place} />
            ))}
          </svg>
        )}
        {width > 0 && (
          <svg class="over" width={width} height={height} aria-hidden="true">
            <Cursor chart={chart} place={place} />
          </svg>
        )}
      </div>
    </figure>
  );
}

/** @param {Line} line */
const stroke = ({ colour }) => (colour ? { "--colour": colour } : undefined);

/** @param {{ line: Line, x: number, y: number }} props */
const Dot = ({ line, x, y }) => <circle class={`dot ${line.style}`} style={stroke(line)} cx={x} cy={y} r={3.3} />;

/** @typedef {{ xOf: (time: number) => number, yOf: (value: number) => number, top: number, bottom: number }} Place */

/** Paths, and the places that they were drawn in: when one curve changes, the others stay. @type {WeakMap<Points, { drawn: string, path: string }>} */
const paths = new WeakMap();

/** @param {Points} points @param {Place} place */
function pathIn(points, { xOf, yOf }) {
  const drawn = [xOf(0), xOf(1), yOf(0), yOf(1)].join();
  const known = paths.get(points);
  if (known?.drawn === drawn) return known.path;
  const path = pathOf(points, xOf, yOf);
  paths.set(points, { drawn, path });
  return path;
}

/** @param {{ line: Line, place: Place }} props */
function Curve({ line, place }) {
  if (!line.points) return null;
  const { xOf, yOf } = place;
  return (
    <>
      <path
        class={`line ${line.style}${line.isPale ? " pale" : ""}`}
        style={stroke(line)}
        d={pathIn(line.points, place)}
      />
      {line.points.length < FEW &&
        line.points.map(
          ([time, value]) => Number.isFinite(value) && <Dot key={time} line={line} x={xOf(time)} y={yOf(value)} />,
        )}
    </>
  );
}

/** Where the run starts to look. @param {{ place: Place, middle: number, unit: number }} props */
function Start({ place: { xOf, top, bottom }, middle, unit }) {
  const step = startsLooking.value;
  if (step === null) return null;
  const x = xOf(step);
  const [side, anchor] = x > middle ? [-5, "tick end"] : [5, "tick"];
  return (
    <g>
      <line class="level" x1={x} x2={x} y1={top - 14 * unit} y2={bottom} />
      <text class={anchor} x={x + side * unit} y={top - 6 * unit}>
        starts looking: {step}
      </text>
    </g>
  );
}

/** The cursor at the shown step, and each curve's point there. @param {{ chart: ChartModel, place: Place }} props */
function Cursor({ chart, place: { xOf, yOf, top, bottom } }) {
  const step = here.value?.step ?? 0;
  return (
    <g>
      <line class="cursor" x1={xOf(step)} x2={xOf(step)} y1={top} y2={bottom} />
      {chart.lines.map((line) => {
        const [time, value] = (!line.isPale && line.points?.[placeAt(line.points, step)]) || [NaN, NaN];
        return (
          time === step && Number.isFinite(value) && <Dot key={line.label} line={line} x={xOf(step)} y={yOf(value)} />
        );
      })}
    </g>
  );
}

/** @param {{ line: Line }} props */
const Swatch = ({ line }) => (
  <svg viewBox="0 0 26 8" width={26} height={8} aria-hidden="true">
    <line x1={1} x2={25} y1={4} y2={4} class={`line ${line.style}${line.isPale ? " pale" : ""}`} style={stroke(line)} />
  </svg>
);

/** @param {{ line: Line }} props */
function Key({ line }) {
  const step = paced.value?.step ?? 0;
  return (
    <span class="key">
      <Swatch line={line} />
      <bdi>{line.label}</bdi> <span class="value">{valueText(line.points, step)}</span>
      {line.before && <span>({valueText(line.before, step)})</span>}
    </span>
  );
}

/** @param {Points | null} points @param {number} step */
function valueText(points, step) {
  if (!points?.length) return points ? "cannot be computed" : "computing…";
  const [time, value] = points[placeAt(points, step)] ?? [step, NaN];
  return Number.isFinite(value) ? fixed(value) + (time === step ? "" : ` (step ${time})`) : "–";
}

/** What makes an element the scrubber of steps. @param {(x: number) => number} timeOf */
function scrubber(timeOf) {
  /** The nearest step of the shown run. @param {PointerEvent} event */
  const stepOf = (event) => {
    const box = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    const run = here.value?.run;
    return run ? run.times[run.at(Math.max(timeOf(event.clientX - box.left), 0))] : 0;
  };
  const isHeld = (/** @type {PointerEvent} */ event) =>
    /** @type {HTMLElement} */ (event.currentTarget).hasPointerCapture(event.pointerId);
  return {
    onPointerDown: (/** @type {PointerEvent} */ event) => {
      if (event.button !== 0) return;
      /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
      before = view.peek().step;
      // A finger may be about to scroll.
      if (event.pointerType === "mouse") changeSoon({ step: stepOf(event) });
    },
    onPointerMove: (/** @type {PointerEvent} */ event) => {
      if (!isHeld(event)) return;
      const step = stepOf(event);
      if (step !== view.peek().step) changeSoon({ step });
    },
    onPointerUp: (/** @type {PointerEvent} */ event) => {
      if (isHeld(event)) change({ step: stepOf(event) });
    },
    // It scrolled.
    onPointerCancel: () => {
      changeSoon({ step: before });
      settleAddress();
    },
  };
}

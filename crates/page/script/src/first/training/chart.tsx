// A chart over the steps of a training that is also their scrubber.

import { useSize } from "../../draw/dom";
import { Explained } from "../../draw/explained";
import { fixed } from "../../model/numbers";
import { current } from "../../state/state";
import { change, changeSoon, settleAddress, view } from "../../state/view";
import { current10Hz } from "../../state/current";
import { beforeName, lastStep, type ChartModel, type Line } from "./curves";
import { startsLooking } from "./marks";
import { pathOf, placeAt, ticksOf, type Points } from "./series";

// Few points are shown as points.
const FEW = 12;
/** The step before the reader began to drag. */
let before = 0;

export function Chart({ chart }: { chart: ChartModel }) {
  const [ref, { width, unit }] = useSize();
  const last = lastStep.value;
  const [left, right] = [34 * unit, 10 * unit];
  const inner = Math.max(width - left - right, 1);
  const xOf = (time: number) => left + Math.min(time / last, 1) * inner;
  // The legend of a run before takes a line: the first sight still fits into 800 pixels.
  const [top, bottom] = [21 * unit, (beforeName.value ? 84 : 90) * unit];
  const height = bottom + 18 * unit;
  const { low = 0 } = chart;
  const extent = chart.top - low;
  const yOf = (value: number) => bottom - Math.min((value - low) / extent, 1) * (bottom - top);
  const scrub = scrubber((x) => ((x - left) / inner) * last);
  const place = { xOf, yOf, top, bottom };
  const levels = [low, low + extent / 2, chart.top];
  const digits = extent < 0.1 ? 3 : 2;
  return (
    <figure>
      <figcaption>
        <b>
          <Explained text={chart.title} />
        </b>
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
            <path class="rule" d={levels.map((value) => `M${left} ${yOf(value)}H${width - right}`).join("")} />
            {levels.map((value) => (
              <text key={value} class="tick end" x={left - 5 * unit} y={yOf(value) + 4 * unit}>
                {fixed(value, digits)}
              </text>
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

const stroke = ({ colour }: Line) => (colour ? { "--colour": colour } : undefined);

const Dot = ({ line, x, y }: { line: Line; x: number; y: number }) => (
  <circle class={`dot ${line.style}`} style={stroke(line)} cx={x} cy={y} r={3.3} />
);

type PlotArea = { xOf: (time: number) => number; yOf: (value: number) => number; top: number; bottom: number };

/** Paths, and the places that they were drawn in: when one curve changes, the others stay. */
const paths = new WeakMap<Points, { drawn: string; path: string }>();

function pathIn(points: Points, { xOf, yOf }: PlotArea) {
  const drawn = [xOf(0), xOf(1), yOf(0), yOf(1)].join();
  const known = paths.get(points);
  if (known?.drawn === drawn) return known.path;
  const path = pathOf(points, xOf, yOf);
  paths.set(points, { drawn, path });
  return path;
}

function Curve({ line, place }: { line: Line; place: PlotArea }) {
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

/** Where the run starts to look. */
function Start({ place: { xOf, top, bottom }, middle, unit }: { place: PlotArea; middle: number; unit: number }) {
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

/** The cursor at the shown step, and each curve's point there. */
function Cursor({ chart, place: { xOf, yOf, top, bottom } }: { chart: ChartModel; place: PlotArea }) {
  const step = current.value?.step ?? 0;
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

const Swatch = ({ line }: { line: Line }) => (
  <svg viewBox="0 0 26 8" width={26} height={8} aria-hidden="true">
    <line x1={1} x2={25} y1={4} y2={4} class={`line ${line.style}${line.isPale ? " pale" : ""}`} style={stroke(line)} />
  </svg>
);

function Key({ line }: { line: Line }) {
  const step = current10Hz.value?.step ?? 0;
  return (
    <span class="key">
      <Swatch line={line} />
      <bdi>{line.label}</bdi> <span class="value">{valueText(line.points, step)}</span>
      {line.before && <span>({valueText(line.before, step)})</span>}
    </span>
  );
}

function valueText(points: Points | null, step: number) {
  if (!points?.length) return points ? "cannot be computed" : "computing…";
  const [time, value] = points[placeAt(points, step)] ?? [step, NaN];
  return Number.isFinite(value) ? fixed(value) + (time === step ? "" : ` (step ${time})`) : "–";
}

/** What makes an element the scrubber of steps. */
function scrubber(timeOf: (x: number) => number) {
  /** The nearest step of the shown run. */
  const stepOf = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const run = current.value?.run;
    return run ? run.times[run.at(Math.max(timeOf(event.clientX - box.left), 0))] : 0;
  };
  const isHeld = (event: PointerEvent) => (event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId);
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      before = view.peek().step;
      // A finger may be about to scroll.
      if (event.pointerType === "mouse") changeSoon({ step: stepOf(event) });
    },
    onPointerMove: (event: PointerEvent) => {
      if (!isHeld(event)) return;
      const step = stepOf(event);
      if (step !== view.peek().step) changeSoon({ step });
    },
    onPointerUp: (event: PointerEvent) => {
      if (isHeld(event)) change({ step: stepOf(event) });
    },
    // It scrolled.
    onPointerCancel: () => {
      changeSoon({ step: before });
      settleAddress();
    },
  };
}

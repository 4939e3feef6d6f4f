// What the charts over the steps of a run show. Of all this, playing changes nothing: the cursor alone moves.

import { computed, effect, signal } from "@preact/signals";
import { runWith } from "../../sources/interventions";
import { settingsText } from "../../model/config";
import { classColour } from "../../draw/colour";
import { baseRun, previousRun, runOfPin, runs, settingsOf, shownRun } from "../../state/state";
import { cutText, niceTop, runningMean, wideOf, type Points } from "./series";
import type { Run } from "../../model/run";
import type { LossPoint } from "../../model/types";
import { currentHead, currentSampleKey, currentLayer, currentPin, hasInterventions } from "../../state/current";

export interface Line {
  label: string;
  style: string;
  colour?: string;
  /** Null while they are computed. */
  points: Points | null;
  /** The same of the run before an experiment or a change. */
  before?: Points | null;
  isPale?: boolean;
}

export interface ChartModel {
  name: string;
  title: string;
  /** The end of the axis of values. */
  top: number;
  /** Its beginning, if values are below 0. */
  low?: number;
  lines: Line[];
  level?: number;
}

// A curve of more points than this is drawn with a running mean.
const MANY = 200;
// While the reader drags a temperature or a row of weights, its curves need not follow each step of the way. The curves of
// another run come after all else of it.
const REST_MS = 200;

/** The run whose curves are drawn: the shown one, once the reader's changes rest. */
export const chartedRun = signal<Run | null>(null);
let waiting: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const run = shownRun.value;
  clearTimeout(waiting);
  waiting = setTimeout(
    () => {
      chartedRun.value = run;
    },
    chartedRun.peek() && run?.source !== baseRun.value?.source ? REST_MS : 0,
  );
});

/** Whether the curves are not yet those of the reader's changes. */
export const isLate = computed(
  () => chartedRun.value !== shownRun.value && shownRun.value?.source !== baseRun.value?.source,
);

/** The run before the reader's changes or, without any, before the experiment. */
const before = computed(() => {
  if (hasInterventions.value) return baseRun.value;
  const run = previousRun.value;
  if (!run || run === baseRun.value || !baseRun.value?.isLive) return null;
  // An address of an experiment can be opened before the page has trained its own run.
  if (run.isLive) return run;
  return runs.value[0]?.isLive && runs.value[0] !== baseRun.value ? runs.value[0] : null;
});

/** What the pale lines are of; empty without such lines. */
export const beforeName = computed(() => {
  const run = before.value;
  if (!run) return "";
  return hasInterventions.value ? "without the changes" : settingsText(settingsOf(run)) || run.name;
});

const pinned = computed(() => {
  const held = currentPin.value;
  const run = held && runOfPin(held);
  return run && { run: runWith(run, held.changes).asking(shownRun.value?.asked ?? NaN), sample: held.sample };
});

/** The end of the axis of steps: that of all curves in sight, and the same for all runs of a page, so that they can be compared. */
export const lastStep = computed(() => {
  const all = [...(runs.value.length > 1 ? runs.value : []), chartedRun.value, before.value, pinned.value?.run];
  return all.reduce((most, run) => (run ? Math.max(most, run.last, run.facts.loss.at(-1)?.step ?? 0) : most), 1);
});

export function attentionOf(run: Run, key: string): Points | null {
  void run.source.arrived?.value;
  const { layers, heads } = run.facts;
  return run.curve(key, Math.min(currentLayer.value, layers - 1), Math.min(currentHead.value, heads - 1));
}

export const hasLabelPosition = (run: Run, key: string) =>
  run.members(key).some((sample) => run.lookedAt(sample).length);

/** Losses as points, and their running mean. */
const losses = new WeakMap<LossPoint[], { points: Points; smooth: Points }>();

function lossOf({ facts: { loss } }: Run) {
  let found = losses.get(loss);
  if (!found) {
    const points: Points = loss.map(({ step, loss }) => [step, loss]);
    found = { points, smooth: points.length > MANY ? runningMean(points, wideOf(points.length)) : points };
    losses.set(loss, found);
  }
  return found;
}

/** The lowest value, at most 0, and the highest, at least 0. */
function extentOf(...all: (Points | null | undefined)[]): [number, number] {
  let [low, high] = [0, 0];
  for (const points of all)
    for (const [, value] of points ?? []) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  return [low, high];
}

const lossChart = computed<ChartModel | null>(() => {
  const run = chartedRun.value;
  if (!run) return null;
  const { points, smooth } = lossOf(run);
  const over = run.facts.loss_over ?? "all training samples";
  const other = before.value && !hasInterventions.value ? lossOf(before.value).smooth : null;
  const lines: Line[] = [];
  const isSmooth = points.length > MANY;
  const label = `${runs.value.length > 1 ? `${run.name}, ` : ""}${over}`;
  if (isSmooth) {
    lines.push({ label, style: "loss", points, isPale: true });
    lines.push({ label: `mean of ${wideOf(points.length)} batches`, style: "loss", points: smooth, before: other });
  } else if (points.length) lines.push({ label, style: "loss", points, before: other });
  const held = pinned.value;
  if (held && held.run.facts !== run.facts)
    lines.push({ label: `Pinned: ${held.run.name}`, style: "pinned", points: lossOf(held.run).smooth });
  if (!lines.some(({ points }) => points?.length)) return null;
  // The losses of single batches have rare peaks, which would flatten all else.
  const drawnLines = lines.filter(({ isPale }) => !isPale);
  const top = niceTop(extentOf(...drawnLines.flatMap(({ points, before }) => [points, before]))[1]);
  if (isSmooth) lines[0].label += cutText(points, top);
  return { name: "loss", title: "Loss", top, lines };
});

const attentionChart = computed<ChartModel | null>(() => {
  const run = chartedRun.value;
  if (!run) return null;
  const other = before.value?.asking(run.asked ?? NaN) ?? null;
  const lineOf = (key: string) => ({
    points: attentionOf(run, key),
    before: other && hasLabelPosition(other, key) ? attentionOf(other, key) : undefined,
  });
  const lines: Line[] = classesOf(run, currentSampleKey.value)
    .filter((key) => hasLabelPosition(run, key))
    .map((key) => ({
      label: run.groupName(key, run.members(key).length),
      ...lineOf(key),
      ...(run.classCount > 2
        ? { style: "several", colour: classColour(run.groups[key], run.classCount) }
        : { style: key }),
    }));
  const sample = currentSampleKey.value;
  if (!run.isGroup(sample) && hasLabelPosition(run, sample))
    lines.push({ label: run.sampleName(sample), style: "sample", ...lineOf(sample) });
  const held = pinned.value;
  if (held && (held.run !== run || held.sample !== sample) && hasLabelPosition(held.run, held.sample)) {
    const of = runs.value.length > 1 || held.run.facts !== run.facts ? `${held.run.name}, ` : "";
    lines.push({
      label: `Pinned: ${of}${held.run.sampleName(held.sample)}`,
      style: "pinned",
      points: attentionOf(held.run, held.sample),
    });
  }
  if (!lines.length) return null;
  const [low, high] = extentOf(...lines.flatMap(({ points, before }) => [points, before]));
  const isShare = [run, other, held?.run].every((one) => one?.isShare ?? true);
  const named =
    run.facts.layers * run.facts.heads > 1 ? `, layer ${currentLayer.value}, head ${currentHead.value}` : "";
  return {
    name: "attention",
    title: `Attention of ${run.readoutName} on the label's ${run.samples.some(({ marked }) => marked.includes(run.readout)) ? "other " : ""}position${named}`,
    lines,
    level: uniformOf(run) ?? undefined,
    top: isShare ? 1 : niceTop(Math.max(high, 0.1)),
    low: low < 0 ? -niceTop(-low) : 0,
  };
});

export const charts = computed<ChartModel[]>(() =>
  [lossChart.value, attentionChart.value].filter((chart) => chart !== null),
);

// Of more classes, there is a line for that of the shown sample alone.
const MAX_CLASSES = 10;

/** The classes that have a line. */
function classesOf(run: Run, sample: string) {
  const keys = Object.keys(run.groups);
  if (keys.length <= MAX_CLASSES) return keys;
  const [first] = run.members(sample);
  return keys.filter((key) => run.groups[key] === first?.label);
}

/** What even attention would give the positions that decide the labels; null if it differs between samples. */
function uniformOf(run: Run) {
  const shares = run.samples
    .filter((sample) => run.lookedAt(sample).length)
    .map((sample) => run.uniform([sample], run.readout, () => run.lookedAt(sample)));
  return shares.length && shares.every((share) => share === shares[0]) ? shares[0] : null;
}

// The matrices that stand side by side: the shown view, the pinned one, and their difference.

import { settingsText } from "../model/config";
import { cachedOf } from "../model/cache";
import type { Scale } from "./colour";
import type { Run } from "../model/run";
import type { Interventions, Show } from "../model/types";
import { fixed, joined } from "../model/numbers";

/** Where a matrix is from. */
export interface MatrixPlace {
  /** The run with the interventions, and the base without them. */
  run: Run;
  base: Run;
  sample: string;
  at: number;
  layer: number;
  head: number;
  show: Show;
  settings: Record<string, unknown>;
  changes: Interventions;
  changesText: string;
}

/** All that is needed to draw or to save a matrix. */
export interface MatrixPanel {
  id: "now" | "pinned" | "difference";
  place: MatrixPlace;
  show: string;
  title: string;
  positions: number;
  /** `[query, key]` */
  cells: Float64Array;
  /** 1 where a query may not look at a key */
  forbidden: Uint8Array | null;
  tokens: string[];
  marks: boolean[];
  scale?: Scale;
}

const SHOWN = { weights: "attention weights", scores: "scores" };

/** Above this number of positions, a cell has no room for a number. */
export const MAX_CELLS = 32;

/** The experiment and the changes of a place, for titles and files. Empty for the page's own run. */
export const modificationsOf = ({ settings, changesText }: MatrixPlace) =>
  joined([settingsText(settings), changesText], "; ");

export function titleOf({ run, sample, at, layer, head, show, settings, changesText }: MatrixPlace) {
  return joined(
    [
      changesText && `INTERVENTION ${changesText}`,
      Object.keys(settings).length && `EXPERIMENT ${settingsText(settings)}`,
      run.name,
      SHOWN[show],
      run.sampleName(sample),
      run.facts.steps[at] !== null && `step ${run.stepName(at)}`,
      `layer ${layer}`,
      `head ${head}`,
    ],
    " · ",
  );
}

const MAX_KEPT = 64;

const masks = new WeakMap<Run, Map<string, Uint8Array | null>>();

/** Of the first positions, 1 where no sample of the key allows the query to look. Null if all is allowed. */
const forbiddenOf = (place: MatrixPlace, count: number) =>
  cachedOf(masks, place.run, MAX_KEPT, `${place.sample},${count}`, () => {
    const { run, sample, changes } = place;
    const members = run.members(sample);
    const cells = Uint8Array.from({ length: count ** 2 }, (_, cell) => {
      const [query, key] = [Math.floor(cell / count), cell % count];
      return Number(changes.keys?.includes(key) || !members.some((member) => run.allows(member, query, key)));
    });
    return cells.includes(1) ? cells : null;
  });

const uniforms = new WeakMap<Run, Map<string, Float64Array>>();

/** Uniform attention in each cell of the first positions, of a sample or the mean over a class. `[query, key]` */
const uniformOf = (place: MatrixPlace, count: number) =>
  cachedOf(uniforms, place.run, MAX_KEPT, `${place.sample},${count}`, () => {
    const { run, sample } = place;
    const cells = new Float64Array(count ** 2);
    for (let query = 0; query < count; query++) {
      const rows = run
        .members(sample)
        .map((member) => run.keys(member, query))
        .filter((keys) => keys.length);
      for (const keys of rows)
        for (const key of keys) if (key < count) cells[query * count + key] += 1 / keys.length / rows.length;
    }
    return cells;
  });

/** The numbers of a matrix, and what its colours need. */
export type Cells = Pick<MatrixPanel, "id" | "place" | "show" | "cells" | "forbidden">;

/** What the colours of a matrix stand for, cell by cell: its numbers, or on a logarithmic scale how many times uniform attention they are. */
export function shades({ cells, place }: Cells, scale: Scale | undefined) {
  if (!scale?.log) return cells;
  const even = uniformOf(place, Math.sqrt(cells.length));
  return cells.map((value, cell) => value / even[cell]);
}

/** @param count the positions to show: without what is padding */
export function cellsOf(id: MatrixPanel["id"], place: MatrixPlace, count = place.run.length(place.sample)): Cells {
  const { run, sample, at, layer, head, show } = place;
  const cells = run.matrix(sample, at, layer, head, show, count);
  return { id, place, show, cells, forbidden: forbiddenOf(place, count) };
}

/** @param count the positions to show: without what is padding */
export function panelOf(id: MatrixPanel["id"], place: MatrixPlace, count = place.run.length(place.sample)) {
  const { run, sample } = place;
  const positions = Array.from({ length: count }, (_, position) => position);
  return {
    ...cellsOf(id, place, count),
    title: `${id === "pinned" ? "Pinned: " : ""}${titleOf(place)}`,
    positions: count,
    tokens: positions.map((position) => run.tokenAt(sample, position)),
    marks: positions.map((position) => run.marked(sample, position)),
  };
}

/** Why two matrices have no difference; empty if they have one. */
export const apart = (now: MatrixPanel, pinned: MatrixPanel) =>
  now.positions === pinned.positions
    ? ""
    : `They have no difference: one has ${now.positions} positions, the other ${pinned.positions}.`;

/** What is shown, minus what is pinned. */
export function differenceOf(now: MatrixPanel, pinned: MatrixPanel): MatrixPanel {
  const isScores = now.show === "scores";
  const cells = now.cells.map((cell, index) => cell - pinned.cells[index]);
  // A forbidden key has weight 0, but no score.
  const masked = Uint8Array.from(cells, (_, index) => {
    const count = Number(now.forbidden?.[index] === 1) + Number(pinned.forbidden?.[index] === 1);
    return Number(count > (isScores ? 0 : 1));
  });
  const forbidden = masked.includes(1) ? masked : null;
  return {
    ...now,
    id: "difference",
    show: isScores ? "scores" : "difference",
    title: `Difference: shown minus pinned${isScores ? ", scores" : ""}`,
    cells,
    forbidden,
  };
}

/** The smallest and the largest value that are not forbidden. */
export function extent(panels: Cells[]): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const { cells, forbidden } of panels) {
    for (let index = 0; index < cells.length; index++) {
      if (forbidden?.[index]) continue;
      least = Math.min(least, cells[index]);
      most = Math.max(most, cells[index]);
    }
  }
  return [least, most];
}

/** A cell in words. */
export function reading({ tokens, positions, cells, forbidden }: MatrixPanel, query: number, key: number) {
  const at = query * positions + key;
  const value = forbidden?.[at] ? "masked" : fixed(cells[at]);
  return `query ${query}: ${tokens[query]}, key ${key}: ${tokens[key]}, ${value}`;
}

/** A number in the least room: without the zero before the point, and with two digits. */
export function brief(value: number) {
  const size = Math.abs(value);
  if (size < 0.005) return "0";
  const text = size < 0.995 ? size.toFixed(2).slice(1) : size.toFixed(size < 9.95 ? 1 : 0);
  return value < 0 ? `-${text}` : text;
}

/**
 * How the numbers of cells fit: with how many decimals, and in which size of text, in pixels. `brief` fits everywhere.
 * @param width of a cell, in pixels
 */
export function fitting(width: number, rem: number): { level: "long" | "short" | "brief"; size: number } {
  const least = Math.max(11, 0.6875 * rem);
  const most = 0.92 * rem;
  // The widest numbers, "-0.5688" and "-0.57", in widths of the text's size.
  if (width / 4 >= least) return { level: "long", size: Math.min(most, width / 4) };
  if (width / 2.8 >= least) return { level: "short", size: Math.min(most, width / 2.8) };
  return { level: "brief", size: least };
}

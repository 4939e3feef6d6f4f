// Which signal a part of the page reads. What is shown changes with each frame while steps play, and nobody reads numbers and
// sentences that fast:
//
//     current         what moves: arcs, cursors, bars, and what a reader drags
//     current10Hz     what is read on the first sight: at once while nothing plays, else ten times a second
//     currentForTabs  the tabs: after the first sight, and while steps play, not while they are out of sight
//
// What needs a single part reads that part below: it stays as it is while others change, and so does what a reader types.

import { computed, effect, signal } from "@preact/signals";
import { weightsOf } from "../model/sentence";
import type { Range } from "../model/types";
import { isPlaying } from "./play";
import { current, shownRun } from "./state";
import { view } from "./view";

const INTERVAL_MS = 100;
const TABS_INTERVAL_MS = 150;

export const current10Hz = signal<typeof current.value>(current.peek());
let shownAt = 0;
effect(() => {
  const now = current.value;
  const time = performance.now();
  if (isPlaying.value && time - shownAt < INTERVAL_MS) return;
  shownAt = time;
  current10Hz.value = now;
});

export const currentForTabs = signal<typeof current.value>(null);

let waiting: ReturnType<typeof setTimeout> | undefined;

const isInSight = () => (document.getElementById("more")?.getBoundingClientRect().top ?? 0) < innerHeight;

effect(() => {
  void current.value;
  const show = () => {
    waiting = undefined;
    if (!isPlaying.peek() || isInSight()) currentForTabs.value = current.peek();
  };
  if (!isPlaying.value) {
    clearTimeout(waiting);
    waiting = setTimeout(show);
  } else waiting ??= setTimeout(show, TABS_INTERVAL_MS);
});

export const currentSampleKey = computed(() => current.value?.sample ?? "");
/** The sample itself; null for the mean over a class. */
export const currentSample = computed(() => current.value?.one ?? null);
export const currentQuery = computed(() => current.value?.query ?? 0);
export const currentLayer = computed(() => current.value?.layer ?? 0);
export const currentHead = computed(() => current.value?.head ?? 0);
export const currentShow = computed(() => current.value?.show ?? view.value.show);
export const currentRange = computed(() => (current.value?.range ?? "unit") as Range);
export const currentPin = computed(() => view.value.pin);
export const currentCaption = computed(() => view.value.guide);
export const hasInterventions = computed(() => current.value?.hasInterventions ?? false);
/** The positions that are more than padding. */
export const currentLength = computed(() => shownRun.value?.length(currentSampleKey.value) ?? 0);
/** The query's weights, for what moves. */
export const currentWeights = computed(() =>
  current.value ? weightsOf(current.value).subarray(0, currentLength.value) : new Float64Array(),
);
/** The query's weights, for what is read. */
export const currentWeights10Hz = computed(() =>
  current10Hz.value ? weightsOf(current10Hz.value) : new Float64Array(),
);

const narrow = matchMedia("(max-width: 37.5rem)");
/** Whether the window is as narrow as a phone's. */
export const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
});

/** Whether tokens may be as long as words. */
export const isWide = () => ["word", "value"].includes(shownRun.value?.unit ?? "") || shownRun.value?.isAlone === true;
// More positions than these may need more room than there is; words are longer than numbers.
export const mostInARow = () => (isWide() ? 5 : isNarrow.value ? 9 : 14);

// The matrices that are shown: of the view, of the pinned one, and their difference.

import { computed, type ReadonlySignal } from "@preact/signals";
import { changedRun, changesFor, changesText } from "../../sources/interventions";
import { base, here, runOfPin, settingsOf, shown } from "../../state/state";
import { view } from "../../state/view";
import { paced } from "../../state/tempo";
import { apart, differenceOf, panelOf, type Place } from "../../draw/matrices";
import { sharedScale } from "../../draw/scale";
import type { Run } from "../../model/run";
import type { Changes, Range } from "../../model/types";

/** A matrix of a run with changes. */
const placeOf = (
  base: Run,
  changes: Changes,
  where: Omit<Place, "base" | "settings" | "changes" | "changesText">,
): Place => ({
  ...where,
  base,
  settings: settingsOf(base),
  changes,
  changesText: changesText(changes),
});

function shownPlace(): Place | null {
  const now = paced.value;
  if (!now || !base.value) return null;
  const { run, sample, at, layer, head, show } = now;
  const changes = now.isWhatIf ? changesFor(base.value, view.value.changes) : {};
  return placeOf(base.value, changes, { run, sample, at, layer, head, show });
}

// These change less often than the step, so the pinned matrix is not made again while the training plays.
export const pin = computed(() => view.value.pin);
export const layer = computed(() => here.value?.layer ?? 0);
export const head = computed(() => here.value?.head ?? 0);
export const show = computed(() => here.value?.show ?? view.value.show);
export const colourRange = computed(() => (here.value?.range ?? "unit") as Range);

/** Where the pinned matrix is from, or a sentence that says why there is none. */
const pinnedPlace: ReadonlySignal<Place | string | null> = computed(() => {
  const held = pin.value;
  if (!held) return null;
  const own = runOfPin(held);
  if (!own)
    return "The pinned view is of an experiment that this page has not trained: choose its settings once, or unpin it.";
  const changes = changesFor(own, held.changes);
  const run = changedRun(own, changes).asking(shown.value?.asked ?? NaN);
  if (!run.members(held.sample).length)
    return `The pinned sample (${held.sample}) is not in the run that it was pinned in.`;
  const { layers, heads } = run.facts;
  return placeOf(own, changes, {
    run,
    sample: held.sample,
    at: run.at(held.step),
    layer: Math.min(layer.value, layers - 1),
    head: Math.min(head.value, heads - 1),
    show: show.value,
  });
});

/** How many positions two matrices show, so that they can be compared; nothing if each shows its own. */
const commonLength = computed(() => {
  const [now, held] = [shownPlace(), pinnedPlace.value];
  if (!now || !held || typeof held === "string" || held.run.positions !== now.run.positions) return undefined;
  return Math.max(now.run.length(now.sample), held.run.length(held.sample));
});

export const nowPanel = computed(() => {
  const place = shownPlace();
  return place && panelOf("now", place, commonLength.value);
});

/** The pinned matrix, or a sentence that says why there is none. */
export const pinnedPanel = computed(() => {
  const place = pinnedPlace.value;
  return !place || typeof place === "string" ? place : panelOf("pinned", place, commonLength.value);
});

/** All matrices, with their colours. The shown and the pinned one have the same if they can be compared. */
export const panels = computed(() => {
  const now = nowPanel.value;
  if (!now) return [];
  const pinned = pinnedPanel.value;
  if (!pinned || typeof pinned === "string") return [{ ...now, scale: sharedScale([now], colourRange.value) }];
  const scale = sharedScale([now, pinned], colourRange.value);
  const pair = [
    { ...now, scale },
    { ...pinned, scale },
  ];
  if (apart(now, pinned)) return pair;
  const difference = differenceOf(now, pinned);
  return [
    ...pair,
    {
      ...difference,
      scale:
        difference.show === "scores" && colourRange.value !== "own"
          ? scale
          : sharedScale([difference], colourRange.value),
    },
  ];
});

// The matrices that are shown: of the view, of the pinned one, and their difference.

import { computed } from "@preact/signals";
import { runWith, interventionsFor, interventionsText } from "../../sources/interventions";
import { baseRun, runOfPin, settingsOf, shownRun } from "../../state/state";
import { view } from "../../state/view";
import { currentHead, currentLayer, currentPin, currentRange, currentShow, current10Hz } from "../../state/current";
import { apart, differenceOf, panelOf, type MatrixPlace } from "../../draw/matrices";
import { sharedScale } from "../../draw/scale";
import type { Run } from "../../model/run";
import type { Interventions } from "../../model/types";

/** A matrix of a run with changes. */
const placeOf = (
  base: Run,
  changes: Interventions,
  where: Omit<MatrixPlace, "base" | "settings" | "changes" | "changesText">,
): MatrixPlace => ({
  ...where,
  base,
  settings: settingsOf(base),
  changes,
  changesText: interventionsText(changes),
});

function shownPlace(): MatrixPlace | null {
  const now = current10Hz.value;
  if (!now || !baseRun.value) return null;
  const { run, sample, at, layer, head, show } = now;
  const changes = now.hasInterventions ? interventionsFor(baseRun.value, view.value.changes) : {};
  return placeOf(baseRun.value, changes, { run, sample, at, layer, head, show });
}

/** Where the pinned matrix is from, or a sentence that says why there is none. */
const pinnedPlace = computed<MatrixPlace | string | null>(() => {
  const held = currentPin.value;
  if (!held) return null;
  const own = runOfPin(held);
  if (!own)
    return "The pinned view is of an experiment that this page has not trained: choose its settings once, or unpin it.";
  const changes = interventionsFor(own, held.changes);
  const run = runWith(own, changes).asking(shownRun.value?.asked ?? NaN);
  if (!run.members(held.sample).length)
    return `The pinned sample (${held.sample}) is not in the run that it was pinned in.`;
  const { layers, heads } = run.facts;
  return placeOf(own, changes, {
    run,
    sample: held.sample,
    at: run.at(held.step),
    layer: Math.min(currentLayer.value, layers - 1),
    head: Math.min(currentHead.value, heads - 1),
    show: currentShow.value,
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
  if (!pinned || typeof pinned === "string") return [{ ...now, scale: sharedScale([now], currentRange.value) }];
  const scale = sharedScale([now, pinned], currentRange.value);
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
        difference.show === "scores" && currentRange.value !== "own"
          ? scale
          : sharedScale([difference], currentRange.value),
    },
  ];
});

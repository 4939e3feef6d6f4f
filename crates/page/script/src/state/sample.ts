// Parts of the shown sample on their own: while steps play, what reads them stays as it is, and so does what a reader types.

import { computed } from "@preact/signals";
import { here } from "./state";
import { view } from "./view";
import { isNarrow } from "./narrow";
import { paced } from "./tempo";
import { weightsOf } from "../model/sentence";

export const run = computed(() => here.value?.run ?? null);
export const key = computed(() => here.value?.sample ?? "");
export const one = computed(() => here.value?.one ?? null);
export const query = computed(() => here.value?.query ?? 0);
export const guide = computed(() => view.value.guide);
/** The positions that are more than padding. */
export const length = computed(() => run.value?.length(key.value) ?? 0);
/** For what moves. */
export const weights = computed(() =>
  here.value ? weightsOf(here.value).subarray(0, length.value) : new Float64Array(),
);
/** For what is read. */
export const readWeights = computed(() => (paced.value ? weightsOf(paced.value) : new Float64Array()));

/** Whether tokens may be as long as words. */
export const isWide = () => ["word", "value"].includes(run.value?.unit ?? "") || run.value?.isAlone === true;
// More positions than these may need more room than there is; words are longer than numbers.
export const mostInARow = () => (isWide() ? 5 : isNarrow.value ? 9 : 14);

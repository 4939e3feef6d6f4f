// What a reader of this page can do.

import { computed } from "@preact/signals";
import { cannot } from "../engine/workers.js";
import { baseConfig, runs, shown } from "../state.js";

/** Train something else. */
export const canTrain = computed(() => runs.value.length < 2 && baseConfig() !== null && cannot() === null);
/** Look at tokens of their own. */
export const canEdit = computed(() => shown.value?.isLive ?? false);
/** Go through the steps of a training. */
export const canPlay = computed(() => (shown.value?.times.length ?? 0) > 1);

// What a reader of this page can do.

import { computed } from "@preact/signals";
import { whyNoEngine } from "../engine/support";
import { RULES } from "../model/described";
import { baseConfig, config, runs } from "./state";

/** Train something else. */
export const canTrain = computed(() => runs.value.length < 2 && baseConfig() !== null && whyNoEngine() === null);
/** Ask another question: choose another rule, or its numbers. */
export const canAsk = computed(() => {
  const data = config.value?.data;
  return canTrain.value && !data?.file && Object.hasOwn(RULES, data?.rule?.kind ?? "");
});

// Another seed of what is shown.

import { valueOf } from "../config.js";
import { configBefore } from "../state.js";
import { change, view } from "../view.js";

/** Shows the training with a seed: the page's own run for its own seed, if nothing else is changed. @param {number} seed */
export function openSeed(seed) {
  const base = configBefore(view.value.settings);
  if (!base) return;
  const { seed: _, ...others } = view.value.settings;
  change({ settings: valueOf(base, "seed") === seed ? others : { ...others, seed } });
}

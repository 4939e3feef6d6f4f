// Another seed of what is shown.

import { valueOf } from "../model/config";
import { configBefore } from "./state";
import { change, view } from "./view";

/** Shows the training with a seed: the page's own run for its own seed, if nothing else is changed. */
export function openSeed(seed: number) {
  const base = configBefore(view.value.settings);
  if (!base) return;
  const { seed: _, ...others } = view.value.settings;
  change({ settings: valueOf(base, "seed") === seed ? others : { ...others, seed } });
}

// The computation that is shown: of the sample, step, layer, head and query of the view.

import { computed } from "@preact/signals";
import { changesFor } from "../changes.js";
import { view } from "../view.js";
import { calm } from "./calm.js";
import { Computation } from "./computation.js";

/** Null for the mean over a class, and where a recording has no vectors. @type {import("@preact/signals").ReadonlySignal<Computation | null>} */
export const way = computed(() => {
  const now = calm.value;
  if (!now?.one) return null;
  const { run, one: sample, at, layer, head, query } = now;
  const { source } = run;
  const arrays = source.arrays(at, sample);
  return (
    arrays &&
    new Computation({
      facts: { ...run.facts, read: run.asked ?? run.facts.read },
      tokens: sample.tokens,
      arrays,
      layer,
      head,
      query,
      parameter: (name) => source.parameter?.(name, at) ?? null,
      row: (name, ...where) => source.row(name, at, sample, ...where),
      allows: (query, key) => run.allows(sample, query, key),
      logits: source.results("logits", at, sample),
      probabilities: source.results("probabilities", at, sample),
      changes: changesFor(run, view.peek().changes),
    })
  );
});

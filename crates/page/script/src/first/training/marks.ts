// Where a run starts to look: a mark on its charts.

import { computed } from "@preact/signals";
import { mean } from "../../model/numbers";
import { attentionOf, chartedRun, hasLabelPosition } from "./curves";
import { settledFrom } from "./series";
import { LOOKS } from "../../model/sentence";

/** The step from which on the readout position gives the label's position clearly more than uniform attention, in positive samples; null if there is none. */
export const startsLooking = computed(() => {
  const run = chartedRun.value;
  const keys = Object.keys(run?.groups ?? {}).filter(
    (key) => run && hasLabelPosition(run, key) && (run.classCount > 2 || run.groups[key] === 1),
  );
  const curves = keys.map((key) => run && attentionOf(run, key));
  if (!run?.isShare || !curves.length || curves.some((curve) => !curve)) return null;
  const looking = keys.map((key) => run.members(key).filter((sample) => run.lookedAt(sample).length));
  const uniform = mean(looking.map((samples) => run.uniform(samples, run.readout, (sample) => run.lookedAt(sample))));
  const shares = run.times.map((_, at) => mean(curves.map((curve) => curve?.[at]?.[1] ?? NaN)));
  return run.times[settledFrom(shares, (share) => share > LOOKS * uniform)] ?? null;
});

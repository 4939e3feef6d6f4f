// Interventions in the forward pass of a trained model: in words, and the run with them.

import { cachedOf } from "../model/cache";
import { Run } from "../model/run";
import { Live } from "./live";
import type { Interventions } from "../model/types";

export function interventionTexts({
  temperature,
  causal,
  heads = [],
  keys = [],
  rows = [],
  patches = [],
}: Interventions) {
  return [
    temperature === undefined ? "" : `temperature × ${temperature.toFixed(2)}`,
    causal ? "causal mask" : "",
    ...heads.map(([layer, head]) => `without head ${head} of layer ${layer}`),
    ...keys.map((position) => `without position ${position}`),
    ...rows.map(({ layer, head, query }) => `weights of query ${query} set, layer ${layer}, head ${head}`),
    ...patches.map(
      ({ place, layer, position, from }) =>
        `${place}${place === "embeddings" ? "" : ` of layer ${layer}`} at position ${position} from ${from}`,
    ),
  ].filter(Boolean);
}

/** Empty without changes. */
export const interventionsText = (changes: Interventions) => interventionTexts(changes).join(", ");

/** The changes that a run can have: an address or another experiment may ask for more, and a recording has none. */
function fitting(
  run: Run,
  { temperature, causal, heads = [], keys = [], rows = [], patches = [] }: Interventions,
): Interventions {
  if (!run.isLive) return {};
  const { layers, heads: headCount } = run.facts;
  const { positions } = run;
  const whole = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(causal ? { causal } : {}),
    heads: heads.filter(([layer, head]) => layer < layers && head < headCount),
    keys: keys.filter((key) => key < positions),
    rows: rows.filter(
      ({ layer, head, query, weights }) =>
        layer < layers && head < headCount && query < positions && weights.length === positions,
    ),
    patches: patches.filter(({ layer, position, from }) => layer < layers && position < positions && run.sample(from)),
  };
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => !(Array.isArray(value) && !value.length)));
}

function changed(run: Run, wanted: Interventions): { run: Run; changes: Interventions } {
  const changes = fitting(run, wanted);
  const { facts, source, name, samples, times } = run;
  if (!Object.keys(changes).length || !(source instanceof Live)) return { run, changes };
  const live = source.changed(changes, (key) => run.sample(key));
  try {
    // The engine refuses what no model can compute, for example weights that are not finite.
    if (samples.length) live.look(times.length - 1, samples[0]);
  } catch {
    return { run, changes: {} };
  }
  return { run: new Run(facts, live, name, run.asked), changes };
}

// Each holds curves of all samples.
const MAX_RUNS = 8;
const all = new WeakMap<Run, Map<string, ReturnType<typeof changed>>>();

const withChanges = (run: Run, wanted: Interventions) =>
  cachedOf(all, run, MAX_RUNS, JSON.stringify(wanted), () => changed(run, wanted));

/** A run with those of the changes that it can have. */
export const runWith = (run: Run, wanted: Interventions) => withChanges(run, wanted).run;

/** The changes that a run can have. */
export const interventionsFor = (run: Run | null, wanted: Interventions) =>
  run ? withChanges(run, wanted).changes : {};

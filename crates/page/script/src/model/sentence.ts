// What the attention of one query says, as numbers and as a sentence.

import { fixed, mean, percent as whole, range, sum } from "./numbers";
import type { Run } from "./run";
import type { Sample } from "./types";

type QueryPlace = { run: Run; sample: string; at: number; query: number; layer: number; head: number };

/** A share in percent. Of many positions each has little: a decimal tells them apart. */
export const percent = (share: number) => (share < 0.0995 && share > 0 ? `${(100 * share).toFixed(1)}%` : whole(share));

/** A weight as a share of the query's attention, or as a number where the weights of a query have another sum. */
const weightText = (run: Run, weight: number) => (run.isShare ? percent(weight) : fixed(weight, 2));

/** The weights of a query: of a sample, or the mean over a class. `[key]` */
export function weightsOf({ run, sample, at, query, layer, head }: QueryPlace) {
  const members = run.members(sample);
  const sum = new Float64Array(run.positions);
  for (const member of members) {
    const row = run.source.row("weights", at, member, layer, head, query);
    for (let key = 0; key < sum.length; key++) sum[key] += row[key] / members.length;
  }
  return sum;
}

/** A query looks at positions once they have so many times even attention; it looks away below the inverse. */
export const LOOKS = 1.5;

// Of more positions, the sum alone.
const FEW = 4;

/** The positions that decide the label of all samples that a key stands for. */
export const decisive = (run: Run, sample: string) =>
  range(run.positions).filter((position) => run.marked(sample, position));

export const listed = (words: string[]) => new Intl.ListFormat("en-GB").format(words);

/** Positions that a query looks at. */
export function placesText(run: Run, sample: string, positions: number[], query = run.readout) {
  const one = positions.length === 1;
  const tokens = positions.map((position) => run.tokenAt(sample, position));
  const named =
    tokens.some((token) => token === "·") || positions.includes(run.cls)
      ? ""
      : ` (${run.unit}${one ? "" : "s"} ${listed(tokens)})`;
  return positions.includes(run.cls) && one
    ? query === run.cls
      ? "itself"
      : "[CLS]"
    : `position${one ? "" : "s"} ${listed(positions.map(String))}${named}`;
}

/** That a head is close to uniform attention; empty if it is not. */
const uniformText = ({ run, sample, at, layer, head }: Omit<QueryPlace, "query">) =>
  run.isUniform(sample, at, layer, head) ? " The weights of this head are close to uniform attention." : "";

/** What a mean gives to the positions that decide, which differ between its samples; empty if none do, or for another query. */
function decidingText(run: Run, members: Sample[], at: number, query: number, layer: number, head: number) {
  const known = query === run.readout ? members.filter((sample) => run.lookedAt(sample).length) : [];
  const share = mean(known.map((sample) => run.onLabel(sample, at, layer, head)));
  const even = run.uniform(known, query, (sample) => run.lookedAt(sample));
  const level = Number.isNaN(even) ? "" : `; uniform attention would give ${weightText(run, even)}`;
  return known.length ? ` Those that decide in each get ${weightText(run, share)}${level}.` : "";
}

/** One to three sentences on where a query looks. */
export function sentenceOf({ run, sample, at, query, layer, head }: QueryPlace, weights: Float64Array) {
  const step = run.facts.steps[at] === null ? "" : `At step ${run.stepName(at)}, `;
  const isGroup = run.isGroup(sample);
  const over = isGroup ? `on average over ${run.sampleName(sample).replace("mean over ", "")}, ` : "";
  const which = run.facts.layers * run.facts.heads > 1 ? ` (layer ${layer}, head ${head})` : "";
  const who = `${query === run.readout ? run.readoutName : placesText(run, sample, [query], -1)}${which}`;
  const keys = decisive(run, sample).filter((key) => key !== query);
  const share = sum(keys.map((key) => weights[key]));
  const members = run.members(sample);
  const blind = run.isBlind(members, query) ? `The mask lets ${who} look at no token but itself.` : "";
  const uniform = uniformText({ run, sample, at, layer, head });
  if (!keys.length) {
    const most = weights.indexOf(Math.max(...weights));
    const none = run.isAlone
      ? ""
      : run.asksEach && run.marked(sample, query)
        ? "It alone decides this label by the rule."
        : run.sample(sample)?.each?.length && run.sample(sample)?.label === null
          ? "No label counts there."
          : !run.facts.config?.data.rule
            ? "No rule says which positions decide."
            : isGroup
              ? `No position decides the label in all these samples.${decidingText(run, members, at, query, layer, head)}`
              : run.sample(sample)?.label === null
                ? "The page does not know the label of this sample, and marks no position."
                : "No position decides this label.";
    if (blind) return `${blind} ${none}`.trimEnd();
    if (uniform)
      return `${capital(`${step}${over}${who} looks at all positions about alike: none gets more than about ${weightText(run, weights[most])}.`)} ${none}`;
    return `${capital(`${step}${over}${who} gives the most attention, ${weightText(run, weights[most])}, to ${most === query && query !== run.cls ? "itself" : placesText(run, sample, [most], query)}.`)} ${none}`;
  }
  if (!members.some((member) => keys.some((key) => run.allows(member, query, key))))
    return (
      blind ||
      capital(
        `${step}${over}${who} may not look at ${placesText(run, sample, keys, query)}, which ${keys.length > 1 ? "decide" : "decides"} the label by the rule.`,
      )
    );
  // Together they would hide that one of them has all: of a few, each has its own.
  const isEach = keys.length > 1 && keys.length <= FEW;
  const shares = isEach ? listed(keys.map((key) => weightText(run, weights[key]))) : weightText(run, share);
  const where = placesText(run, sample, keys, query);
  const decides = `${keys.length > 1 ? "decide" : "decides"} the label by the rule${(run.cls < 0 || run.asksEach) && run.marked(sample, query) ? ", together with it" : ""}`;
  const evens = (isEach ? keys.map((key) => [key]) : [keys]).map((of) => run.uniform(members, query, () => of));
  const isSame = evens.every((even) => even === evens[0]);
  const even = isSame ? weightText(run, evens[0]) : listed(evens.map((one) => weightText(run, one)));
  const level = Number.isNaN(evens[0])
    ? ""
    : ` Uniform attention would give ${even}${isEach && isSame ? " to each" : ""}.`;
  return `${capital(`${step}${over}${who} gives ${run.isShare ? `${shares} of its attention` : `${isEach ? "the weights" : keys.length > 1 ? "weights that add up to" : "the weight"} ${shares}`} to ${where}, which ${decides}.`)}${level}${uniform}`;
}

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

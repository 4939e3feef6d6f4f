// What the guide says about a run, on single samples: the reader predicts, sees and tests. Each caption sets a view, and all
// follow from the run's numbers.

import { runWith } from "../../sources/interventions";
import { RULES } from "../../model/described";
import { fixed } from "../../model/numbers";
import { settledFrom } from "../training/series";
import { LOOKS, capital, percent, placesText, weightsOf } from "../../model/sentence";
import type { Run } from "../../model/run";
import type { Interventions, Sample, View } from "../../model/types";

/** `answerTo`: what a guess was worth; until there is one, the page hides where the model looks */
interface Caption {
  title: string;
  text: string;
  parts: Partial<View> & { step: number };
  seeds?: boolean;
  answerTo?: (guess: number) => string;
}

// While the attention at all steps is computed, so many of them stand for all.
const FEW_STEPS = 64;

const known = new WeakMap<Run, Caption[]>();

export function captionsOf(run: Run): Caption[] {
  const before = known.get(run);
  if (before) return before;
  const found = exampleOf(run);
  // They compare shares of attention, which other weights are not.
  if (!found || run.times.length < 2 || !run.isShare) return [];
  const asking = run.asking(found.asked ?? NaN);
  const made = asking.isBlind(asking.samples) ? [] : madeOf(asking, found);
  if (run.source.covers(found)) known.set(run, made);
  return made;
}

/** A sample that shows what the model does: one that has something to look at, and is right because of it, if there is one. */
function exampleOf(run: Run): Sample | undefined {
  const at = run.at(run.opening);
  const isRight = (one: Run, sample: Sample) => one.outcome(sample, at) === "right";
  const wishes = [
    (sample: Sample) => run.lookedAt(sample).length > 0,
    (sample: Sample) => run.isLive && isRight(run, sample) && !isRight(takenFrom(run, sample), sample),
    ({ label }: Sample) => (label ?? 0) > 0,
    (sample: Sample) => isRight(run, sample),
  ];
  const worth = (sample: Sample) => wishes.reduce((sum, wish, place) => sum + (wish(sample) ? 2 ** -place : 0), 0);
  const worths = run.samples.map(worth);
  return run.samples[worths.indexOf(Math.max(...worths))];
}

/** What captions are about: a run at its end, who looks, at which places, and their share of attention. */
function aboutOf(run: Run, sample: Sample) {
  const { layers, heads } = run.facts;
  const { readout, readoutName } = run;
  const end = run.at(run.opening);
  const [layer, head] = [layers - 1, run.strongest];
  const weights = (of: Sample, at = end) => weightsOf({ run, sample: of.key, at, query: readout, layer, head });
  const most = mostOf(weights(sample));
  const decides = run.lookedAt(sample);
  const places = decides.length ? decides : [most];
  return {
    run,
    end,
    who: layers * heads > 1 ? `${readoutName} (layer ${layer}, head ${head})` : readoutName,
    weights,
    most,
    places,
    where: placesText(run, sample.key, places),
    even: run.uniform([sample], readout, () => places),
    view: (at: number, of = sample, changes: Interventions = {}) => ({
      query: readout,
      key: places[0],
      layer,
      head,
      show: "weights" as const,
      sample: of.key,
      step: run.times[at],
      changes,
    }),
    shareAt: (at: number) => sumOf(weights(sample, at), places),
    isClose: (at: number) => run.isUniform(sample.key, at, layer, head, [readout]),
  };
}
type About = ReturnType<typeof aboutOf>;

function madeOf(run: Run, sample: Sample): Caption[] {
  const about = aboutOf(run, sample);
  const { end, who, weights, most, places, where, even, view, shareAt, isClose } = about;
  const first = shareAt(0);
  const isLevel = weights(sample)[most] < LOOKS * run.uniform([sample], run.readout, () => [most]);
  const { data } = run.facts.config ?? {};
  const canAsk = run.isLive && !data?.file && Object.hasOwn(RULES, data?.rule?.kind ?? "");
  return [
    {
      title: "Where will it look?",
      text: `${run.facts.question ? `${run.facts.question} ` : ""}The model answers ${answersOf(run)}. ${looksFrom(run)} ${isLevel ? `None of them gets ${LOOKS} times uniform attention.` : "At which one does it look most? Choose one."}`,
      parts: view(end),
      answerTo: isLevel
        ? undefined
        : (guess) => {
            const shares = weights(sample);
            const chosen = guess === run.cls ? "[CLS] itself" : placesText(run, sample.key, [guess]);
            const looks =
              guess === most
                ? `Yes: ${who} gives the most`
                : `No: ${chosen} gets ${percent(shares[guess])}. ${capital(who)} gives the most`;
            const decided = places.includes(most)
              ? ""
              : ` ${capital(where)} ${decide(places)} the label by the rule${withOwn(run, sample)}: ${percent(shareAt(end))}.`;
            return `${looks}, ${percent(shares[most])}, to ${placesText(run, sample.key, [most])}.${decided}`;
          },
    },
    {
      title: isClose(0) ? "Close to uniform at first." : "Before training.",
      text: `The weights are still random: ${where} ${gets(places)} ${percent(first)} of the attention of ${who}. Uniform attention would give ${percent(even)}.`,
      parts: view(0),
    },
    turn(sample, about),
    ...otherClass(sample, about),
    ...taken(sample, about),
    {
      title: "Your turn.",
      text: `${rightText(run, end)} ${run.isLive ? `Type another token, ${canAsk ? "change the question, " : ""}or train another seed.` : "Choose another sample."}`,
      parts: view(end),
      seeds: true,
    },
  ];
}

/** The steps at which the model begins to look, or why there are none. */
function turn(sample: Sample, { run, end, places, where, even, view, shareAt, isClose }: About): Caption {
  const every = run.source.covers(sample) ? 1 : Math.ceil(run.times.length / FEW_STEPS);
  const times = run.times.map((_, at) => at).filter((at) => at <= end && (at % every === 0 || at === end));
  const shares = times.map(shareAt);
  const last = shareAt(end);
  const direction = last > LOOKS * even ? 1 : last < even / LOOKS ? -1 : 0;
  if (!direction) {
    const isRight = (one: Run) => one.outcome(sample, end) === "right";
    // So flat are the scores then that each key gets about as much.
    const isEnough = run.isLive && isRight(runWith(run, { temperature: 100 }));
    const enough = ` It is right${isEnough ? ", also with scores divided by 100, which makes attention uniform" : ""}.`;
    return {
      title: times.every(isClose) ? "It stays close to uniform." : `At step ${run.stepName(end)}.`,
      parts: view(end),
      text: `${capital(where)} ${gets(places)} ${percent(last)} at step ${run.stepName(end)}; uniform attention would give ${percent(even)}.${isRight(run) ? enough : ""}`,
    };
  }
  // Random weights may look there by chance: what counts is from when on the model always does.
  const looks = (share: number) => (direction > 0 ? share > LOOKS * even : share < even / LOOKS);
  const starts = settledFrom(shares, looks);
  // Half-way from there to the end.
  const half = shares.findIndex(
    (share, place) => place >= starts && (share - (shares[starts] + last) / 2) * direction >= 0,
  );
  const much = direction > 0 ? `more than ${LOOKS} times` : "less than two thirds of";
  const recorded = run.times.length <= run.last ? " recorded" : "";
  const begins =
    starts === 0
      ? `${capital(where)} always ${gets(places)} ${much} uniform attention, at first by chance.`
      : `In this sample, from${recorded} step ${run.stepName(times[starts])} on, ${where} ${gets(places)} ${much} uniform attention.`;
  return {
    title: direction > 0 ? "It turns." : "It turns away.",
    parts: view(times[half]),
    text: `${begins} At step ${run.stepName(times[half])} it is ${percent(shares[half])}, at step ${run.stepName(end)} ${percent(last)}.`,
  };
}

/** A sample of another class: what the model looks at where the answer is another. */
function otherClass(sample: Sample, { run, end, who, weights, view }: About): Caption[] {
  const others = run.samples.filter(({ label }) => label !== null && label !== sample.label);
  const looked = others.filter((one) => run.lookedAt(one).length);
  const other = looked.find((one) => run.outcome(one, end) === "right") ?? looked[0] ?? others[0];
  if (!other) return [];
  const shares = weights(other);
  const most = mostOf(shares);
  const places = run.lookedAt(other);
  const share = sumOf(shares, places);
  const even = run.uniform([other], run.readout, () => places);
  const where = placesText(run, other.key, places);
  const much = `${gets(places)} ${percent(share)}`;
  // The same positions decide in all samples.
  const isFixed = places.length > 0 && run.samples.every(({ marked }) => String(marked) === String(sample.marked));
  const why = !places.length
    ? `${run.facts.config?.data.rule ? "By the rule, nothing in it decides the label. " : ""}${capital(who)} gives the most, ${percent(shares[most])}, to ${placesText(run, other.key, [most])}.`
    : share < even / LOOKS
      ? `${capital(where)} ${much}, less than under uniform attention (${percent(even)}): in this sample this head looks elsewhere, most at ${placesText(run, other.key, [most])}, ${percent(shares[most])}.`
      : share <= LOOKS * even || isFixed
        ? `${capital(where)} ${much}${share > LOOKS * even ? " all the same" : ""}; uniform attention would give ${percent(even)}.`
        : `Here ${where} ${decide(places)} the label by the rule${withOwn(run, other)}, and ${much}.`;
  return [
    {
      title: isFixed && share > LOOKS * even ? "The surprise." : "Another class.",
      text: `${capital(run.sampleName(other.key))} is ${run.facts.classes.length ? "of class " : ""}${run.className(other.label)}. ${why}`,
      parts: view(end, other),
    },
  ];
}

/** The test: the probability without each of the positions that decide or get the most, one at a time, and all samples. Nothing for a recording, which cannot compute it. */
function taken(sample: Sample, { run, end, most, places, view }: About): Caption[] {
  // What the classifier itself reads is not taken away by closing it to others.
  const tried = [...new Set([most, ...places])].filter((place) => place !== run.cls && place !== run.readout);
  if (!run.isLive || run.readsMean || !tried.length) return [];
  const before = run.probability(sample, end);
  const without = tried.map((place) => runWith(run, { keys: [place] }));
  const after = without.map((one) => one.probability(sample, end));
  const moved = after.map((one) => Math.abs(one - before));
  const needed = moved.indexOf(Math.max(...moved));
  const of = run.className(run.classCount > 2 ? (sample.label ?? run.predicted(sample, end)) : 1);
  const turns = without.map((one) => one.predicted(sample, end) !== run.predicted(sample, end));
  const each = tried.map((place, at) => `without ${placesText(run, sample.key, [place])} it is ${fixed(after[at], 3)}`);
  const moral =
    moved[needed] < 0.01
      ? ` ${tried.length > 1 ? "None of them alone is" : "It is not"} needed: attention does not say what an answer needs.`
      : tried[0] === most && !turns[0] && turns[needed]
        ? " What gets the most attention is not what the answer needs most."
        : "";
  return [
    {
      title: "Take it away.",
      parts: view(end, sample, { keys: [tried[needed]] }),
      text: `The probability of “${of}” is ${fixed(before, 3)}; ${each.join(", ")}.${moral} ${allTaken(run, end)}`,
    },
  ];
}

/** How many samples are right without what decides them; empty where nothing says what does. */
function allTaken(run: Run, end: number) {
  const known = run.samples.filter((sample) => sample.label !== null && run.lookedAt(sample).length);
  const answers = known.map((sample) => takenFrom(run, sample).predicted(sample, end));
  const right = known.filter((sample) => run.outcome(sample, end) === "right").length;
  const without = known.filter(({ label }, at) => label === answers[at]).length;
  const isOne = new Set(answers).size === 1;
  return known.length < 2
    ? ""
    : `Of ${known.length} samples with deciding positions, ${right} are right. If no token may look at these positions, ${without} are right${isOne ? `, since the model then always answers “${run.className(answers[0])}”` : ""}.`;
}

/** The run in which no token may look at what decides a sample. */
const takenFrom = (run: Run, sample: Sample) => runWith(run, { keys: run.lookedAt(sample) });

/** That the readout position decides a label, too. */
const withOwn = (run: Run, sample: Sample) =>
  sample.marked.includes(run.readout) ? ` together with ${run.readoutName}` : "";

/** Where the model looks from, in words. */
export function looksFrom(run: Run) {
  const what = `${run.unit}s`;
  if (run.readsMean)
    return `It answers from the mean over all positions, each of which looks at the ${what}; the arcs show ${run.readoutName}.`;
  if (run.asksEach) return `It answers at each position, which looks at the ${what}; the arcs show ${run.readoutName}.`;
  return `Before it answers, it looks at the ${what} from ${run.readoutName}.`;
}

/** What the model can answer, in words. */
function answersOf(run: Run) {
  const names = [...Array(run.classCount).keys()].map((label) => `“${run.className(label)}”`);
  if (run.classCount === 2 && !run.facts.classes.length) return `${names[1]} for yes, or ${names[0]} for no`;
  return names.length > 3 ? `one of ${names.length} classes` : names.join(" or ");
}

const decide = (places: number[]) => (places.length > 1 ? "decide" : "decides");
const gets = (places: number[]) => (places.length > 1 ? "get" : "gets");
const mostOf = (weights: Float64Array) => weights.indexOf(Math.max(...weights));
const sumOf = (weights: Float64Array, places: number[]) => places.reduce((sum, place) => sum + weights[place], 0);

function rightText(run: Run, at: number) {
  const tallies = run.samples.map((sample) => run.tally(sample, at));
  const [right, count] = [0, 1].map((of) => tallies.reduce((all, tally) => all + tally[of], 0));
  const what = `${run.asksEach ? "positions in the samples" : "samples"} of this page are right.`;
  return !count ? "" : right === count ? `All ${right} ${what}` : `${right} of the ${count} ${what}`;
}

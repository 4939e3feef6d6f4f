// What the guide says about a run, on single samples: the reader predicts, sees and tests. Each caption sets a view, and all
// follow from the run's numbers.

import { changedRun } from "../changes.js";
import { RULES } from "../described.js";
import { fixed } from "../numbers.js";
import { LOOKS, percent, placesText, weightsOf } from "./sentence.js";

/** @typedef {import("../run.js").Run} Run */
/** @typedef {import("../types").Sample} Sample */
/** @typedef {import("../types").View} View */
/** @typedef {{ title: string, text: string, parts: Partial<View> & { step: number }, seeds?: boolean, answerTo?: (guess: number) => string }} Caption `answerTo`: what a guess was worth; until there is one, the page hides where the model looks */

// While the attention at all steps is computed, so many of them stand for all.
const FEW_STEPS = 64;

/** @type {WeakMap<Run, Caption[]>} */
const known = new WeakMap();

/** @param {Run} run @returns {Caption[]} */
export function captionsOf(run) {
  const before = known.get(run);
  if (before) return before;
  const found = exampleOf(run);
  // They compare shares of attention, which other weights are not.
  if (!found || run.times.length < 2 || !run.isShare) return [];
  const made = madeOf(run.asking(found.asked ?? NaN), found);
  if (run.source.covers(found)) known.set(run, made);
  return made;
}

/** A sample that shows what the model does: one that has something to look at, and is right because of it, if there is one. @param {Run} run @returns {Sample | undefined} */
function exampleOf(run) {
  const at = run.at(run.opening);
  const isRight = (/** @type {Run} */ one, /** @type {Sample} */ sample) => one.outcome(sample, at) === "right";
  const wishes = [
    (/** @type {Sample} */ sample) => run.lookedAt(sample).length > 0,
    (/** @type {Sample} */ sample) => run.isLive && isRight(run, sample) && !isRight(takenFrom(run, sample), sample),
    (/** @type {Sample} */ { label }) => (label ?? 0) > 0,
    (/** @type {Sample} */ sample) => isRight(run, sample),
  ];
  const worth = (/** @type {Sample} */ sample) =>
    wishes.reduce((sum, wish, place) => sum + (wish(sample) ? 2 ** -place : 0), 0);
  return run.samples.reduce(
    (/** @type {Sample | undefined} */ best, sample) => (best && worth(best) >= worth(sample) ? best : sample),
    undefined,
  );
}

/** @param {Run} run @param {Sample} sample @returns {Caption[]} */
function madeOf(run, sample) {
  const { layers, heads } = run.facts;
  const { cls, reader, readerName } = run;
  const end = run.at(run.opening);
  const [layer, head] = [layers - 1, run.strongest];
  const who = layers * heads > 1 ? `${readerName} (layer ${layer}, head ${head})` : readerName;
  const weights = (/** @type {Sample} */ of, at = end) =>
    weightsOf({ run, sample: of.key, at, query: reader, layer, head });
  const most = mostOf(weights(sample));
  const decides = run.lookedAt(sample);
  const places = decides.length ? decides : [most];
  const where = placesText(run, sample.key, places);
  const even = run.uniform([sample], reader, () => places);
  const view = (/** @type {number} */ at, of = sample, changes = {}) => ({
    query: reader,
    key: places[0],
    layer,
    head,
    show: /** @type {const} */ ("weights"),
    sample: of.key,
    step: run.times[at],
    changes,
  });
  const shareAt = (/** @type {number} */ at) => sumOf(weights(sample, at), places);

  const [first, last] = [shareAt(0), shareAt(end)];
  const canAsk =
    run.isLive && Object.hasOwn(RULES, run.facts.config?.data.rule?.kind ?? "") && !run.facts.config?.data.file;
  const isEven = first < LOOKS * even && first > even / LOOKS;
  return [
    {
      title: "Where will it look?",
      text: `${run.facts.question ? `${run.facts.question} ` : ""}The model answers ${answersOf(run)}. ${looksFrom(run)} At which one does it look most? Choose one.`,
      parts: view(end),
      answerTo: (guess) => {
        const shares = weights(sample);
        const chosen = guess === cls ? "[CLS] itself" : placesText(run, sample.key, [guess]);
        const said =
          guess === most
            ? `Yes: ${who} gives the most`
            : `No: ${chosen} gets ${percent(shares[guess])}. ${capital(who)} gives the most`;
        const decided = places.includes(most)
          ? ""
          : ` ${capital(where)} ${places.length > 1 ? "decide" : "decides"} the label${withOwn(run, sample)}: ${percent(last)}.`;
        return `${said}, ${percent(shares[most])}, to ${placesText(run, sample.key, [most])}.${decided}`;
      },
    },
    {
      title: isEven ? "Uniform at first." : "Before training.",
      text: `The weights are still random: ${where} ${gets(places)} ${percent(first)} of the attention of ${who}. Uniform attention would give ${percent(even)}.`,
      parts: view(0),
    },
    turn(run, sample, { end, even, last, where, places, shareAt, view }),
    ...otherClass(run, sample, { end, layer, head, who, view }),
    ...taken(run, sample, { end, where, places, view }),
    {
      title: "Your turn.",
      text: `${rightText(run, end)} ${run.isLive ? `Type another token, ${canAsk ? "change the question, " : ""}or train another seed.` : "Choose another sample."}`,
      parts: view(end),
      seeds: true,
    },
  ];
}

/** The steps at which the model begins to look, or why there are none. @param {Run} run @param {Sample} sample @param {{ end: number, even: number, last: number, where: string, places: number[], shareAt: (at: number) => number, view: (at: number) => any }} found @returns {Caption} */
function turn(run, sample, { end, even, last, where, places, shareAt, view }) {
  const every = run.source.covers(sample) ? 1 : Math.ceil(run.times.length / FEW_STEPS);
  const times = run.times.map((_, at) => at).filter((at) => at <= end && (at % every === 0 || at === end));
  const shares = times.map(shareAt);
  const direction = last > LOOKS * even ? 1 : last < even / LOOKS ? -1 : 0;
  const recorded = run.times.length <= run.last ? " recorded" : "";
  if (!direction) {
    const furthest = shares.reduce(
      (best, share, place) => (Math.abs(share - even) > Math.abs(shares[best] - even) ? place : best),
      0,
    );
    const enough =
      run.outcome(sample, end) === "right" ? " It is right all the same: uniform attention is enough." : "";
    return {
      title: "It never really looks.",
      parts: view(end),
      text: `${capital(where)} ${gets(places)} about as much as under uniform attention: ${percent(last)} at step ${run.stepName(end)}. The furthest from that is ${percent(shares[furthest])}, at step ${run.stepName(times[furthest])}.${enough}`,
    };
  }
  // Random weights may look there by chance: what counts is from when on the model always does.
  const looks = (/** @type {number} */ share) => (direction > 0 ? share > LOOKS * even : share < even / LOOKS);
  const starts = shares.findLastIndex((share) => !looks(share)) + 1;
  // Half-way from there to the end.
  const half = shares.findIndex(
    (share, place) => place >= starts && (share - (shares[starts] + last) / 2) * direction >= 0,
  );
  const much = direction > 0 ? `more than ${LOOKS} times` : "less than two thirds of";
  const own = `In this sample, from${recorded}`;
  const begins =
    starts === 0
      ? `${capital(where)} always ${gets(places)} ${much} uniform attention, at first by chance.`
      : `${own} step ${run.stepName(times[starts])} on, ${where} ${gets(places)} ${much} uniform attention.`;
  return {
    title: direction > 0 ? "It turns." : "It turns away.",
    parts: view(times[half]),
    text: `${begins} At step ${run.stepName(times[half])} it is ${percent(shares[half])}, at step ${run.stepName(end)} ${percent(last)}.`,
  };
}

/** A sample of another class: what the model looks at where the answer is another. @param {Run} run @param {Sample} sample @param {{ end: number, layer: number, head: number, who: string, view: (at: number, of: Sample) => any }} found @returns {Caption[]} */
function otherClass(run, sample, { end, layer, head, who, view }) {
  const others = run.samples.filter(({ label }) => label !== null && label !== sample.label);
  const other =
    others.find((one) => run.lookedAt(one).length && run.outcome(one, end) === "right") ??
    others.find((one) => run.lookedAt(one).length) ??
    others[0];
  if (!other) return [];
  const { reader } = run;
  const weights = weightsOf({ run, sample: other.key, at: end, query: reader, layer, head });
  const name = `${capital(run.sampleName(other.key))} is ${run.facts.classes.length ? "of class " : ""}${run.className(other.label)}`;
  const parts = view(end, other);
  const places = run.lookedAt(other);
  if (!places.length) {
    const most = mostOf(weights);
    const nothing = run.facts.config?.data.rule ? "Nothing in it decides the label. " : "";
    return [
      {
        title: "Another class.",
        text: `${name}. ${nothing}${capital(who)} gives the most, ${percent(weights[most])}, to ${placesText(run, other.key, [most])}.`,
        parts,
      },
    ];
  }
  const share = sumOf(weights, places);
  const even = run.uniform([other], reader, () => places);
  const where = placesText(run, other.key, places);
  // The same positions decide in all samples.
  const isFixed = run.samples.every(({ marked }) => String(marked) === String(sample.marked));
  const most = mostOf(weights);
  const why =
    share < even / LOOKS
      ? `${capital(where)} ${gets(places)} ${percent(share)}, less than under uniform attention (${percent(even)}): in this sample this head looks elsewhere, most at ${placesText(run, other.key, [most])}, ${percent(weights[most])}.`
      : share <= LOOKS * even
        ? `${capital(where)} ${gets(places)} ${percent(share)}, about as much as under uniform attention.`
        : isFixed
          ? `${capital(where)} ${gets(places)} ${percent(share)} all the same; uniform attention would give ${percent(even)}.`
          : `Here ${where} ${places.length > 1 ? "decide" : "decides"} the label${withOwn(run, other)}, and ${gets(places)} ${percent(share)}.`;
  return [{ title: isFixed ? "The surprise." : "Another class.", text: `${name}. ${why}`, parts }];
}

/** The test: the probability without what was looked at, without another position instead, and all samples. Nothing for a recording, which cannot compute it. @param {Run} run @param {Sample} sample @param {{ end: number, where: string, places: number[], view: (at: number, of: Sample, changes: import("../types").Changes) => any }} found @returns {Caption[]} */
function taken(run, sample, { end, where, places, view }) {
  if (!run.isLive) return [];
  const changes = { keys: places };
  const [before, after] = [run, changedRun(run, changes)].map((one) => one.probability(sample, end));
  const of = run.classCount > 2 ? run.className(sample.label ?? run.predicted(sample, end)) : run.className(1);
  const becomes =
    Math.abs(after - before) < 0.01
      ? `stays at ${fixed(after, 3)}`
      : `${after < before ? "falls" : "rises"} from ${fixed(before, 3)} to ${fixed(after, 3)}`;
  const { cls, reader } = run;
  const instead = run.keys(sample, reader).find((key) => key !== cls && !places.includes(key));
  const control =
    instead === undefined
      ? ""
      : `; without position ${instead} instead it is ${fixed(changedRun(run, { keys: [instead] }).probability(sample, end), 3)}`;
  return [
    {
      title: "Take it away.",
      parts: view(end, sample, changes),
      text: `No token may look at ${where} now: the probability of “${of}” ${becomes}${control}. ${allTaken(run, end)}`,
    },
  ];
}

/** How many samples are right without what decides them; empty where nothing says what does. @param {Run} run @param {number} end */
function allTaken(run, end) {
  const known = run.samples.filter(
    ({ marked, label }) => label !== null && marked.some((position) => position !== run.reader),
  );
  const isRight = (/** @type {Run} */ one, /** @type {Sample} */ sample) => one.outcome(sample, end) === "right";
  const answers = known.map((sample) => ({ sample, taken: takenFrom(run, sample) }));
  const without = answers.filter(({ sample, taken }) => isRight(taken, sample)).length;
  const count = known.filter((sample) => isRight(run, sample)).length;
  const given = new Set(answers.map(({ sample, taken }) => taken.predicted(sample, end)));
  const why = given.size === 1 ? `, since the model then always answers “${run.className([...given][0])}”` : "";
  return known.length < 2
    ? ""
    : `Of ${known.length} samples, ${count} are right. If no token may look at what decides them, ${without} are right${why}.`;
}

/** The run in which no token may look at what decides a sample. @param {Run} run @param {Sample} sample */
const takenFrom = (run, sample) => changedRun(run, { keys: run.lookedAt(sample) });

/** That the position that the class is read from decides a label, too. @param {Run} run @param {Sample} sample */
const withOwn = (run, sample) => (sample.marked.includes(run.reader) ? ` together with ${run.readerName}` : "");

/** Where the model looks from, in words. @param {Run} run */
function looksFrom(run) {
  const what = `${run.unit}s`;
  if (run.readsMean)
    return `It answers from the mean over all positions, each of which looks at the ${what}; the arcs show ${run.readerName}.`;
  if (run.asksEach) return `It answers at each position, which looks at the ${what}; the arcs show ${run.readerName}.`;
  return `Before it answers, it looks at the ${what} from ${run.readerName}${run.reader === run.cls ? ", a place of its own" : ""}.`;
}

/** What the model can answer, in words. @param {Run} run */
function answersOf(run) {
  const names = [...Array(run.classCount).keys()].map((label) => `“${run.className(label)}”`);
  if (run.classCount === 2 && !run.facts.classes.length) return `${names[1]} for yes, or ${names[0]} for no`;
  return names.length > 3 ? `one of ${names.length} classes` : names.join(" or ");
}

const gets = (/** @type {number[]} */ places) => (places.length > 1 ? "get" : "gets");
const mostOf = (/** @type {Float64Array} */ weights) => weights.indexOf(Math.max(...weights));
const sumOf = (/** @type {Float64Array} */ weights, /** @type {number[]} */ places) =>
  places.reduce((sum, place) => sum + weights[place], 0);

/** @param {Run} run @param {number} at */
function rightText(run, at) {
  const [right, count] = run.samples
    .map((sample) => run.tally(sample, at))
    .reduce(([all, of], [right, count]) => [all + right, of + count], [0, 0]);
  if (!count) return "";
  const what = run.asksEach ? "positions in the samples" : "samples";
  return right === count
    ? `All ${right} ${what} of this page are right.`
    : `${right} of the ${count} ${what} of this page are right.`;
}

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

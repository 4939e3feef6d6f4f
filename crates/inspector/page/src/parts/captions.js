// What the guide says about a run: its captions, and the view that each sets. All follow from the run's numbers.

import { range } from "../numbers.js";
import { decisive, LOOKS, percent, weightsOf } from "./sentence.js";

/** @typedef {import("../run.js").Run} Run */
/** @typedef {{ title: string, text: string, parts: Partial<import("../types").View> & { step: number }, seeds?: boolean }} Caption */

/** @type {WeakMap<Run, Caption[]>} */
const known = new WeakMap();

/** @param {Run} run @returns {Caption[]} */
export function captionsOf(run) {
  let found = known.get(run);
  if (!found) {
    found = madeOf(run);
    known.set(run, found);
  }
  return found;
}

/** @param {Run} run */
function madeOf(run) {
  const names = Object.keys(run.groups).filter((name) => run.members(name).length);
  if (!names.length || run.times.length < 2) return [];
  const end = run.times.length - 1;
  // The positives, or the highest class that has something to look at.
  const marked = (/** @type {string} */ name) => run.members(name).some((sample) => sample.marked.length);
  const group = names.filter(marked).sort((one, other) => run.groups[other] - run.groups[one])[0] ?? names[0];
  const others = names.filter((name) => name !== group).sort((one, other) => run.groups[one] - run.groups[other])[0];
  const [layer, head] = [run.facts.layers - 1, run.strongest];
  const place = { query: run.facts.cls, layer, head, show: /** @type {const} */ ("weights") };
  const where = placeText(run, group);
  const who = run.facts.layers * run.facts.heads > 1 ? `[CLS] (layer ${layer}, head ${head})` : "[CLS]";
  const curve = run.curve(group, layer, head);
  const even = evenOf(run, group);
  const key = decisive(run, group)[0] ?? 0;
  const view = (/** @type {number} */ at, /** @type {string} */ sample = group) => ({ ...place, sample, key, step: run.times[at] });
  const stepText = (/** @type {number} */ at) => `step ${run.stepName(at)}`;
  const right = rightText(run, end);
  const { areRight } = judgedAt(run, end);
  if (!curve || !where || Number.isNaN(even)) return withoutPlace(run, group, others, end, view, who, right);

  const values = curve.map(([, value]) => value);
  const [first, last] = [values[0], values[end]];
  const recorded = run.times.length <= run.last ? " recorded" : "";
  const direction = last > LOOKS * even ? 1 : last < even / LOOKS ? -1 : 0;
  const gets = (/** @type {number} */ value) => `${where} gets ${percent(value)}`;
  const isEven = first < LOOKS * even && first > even / LOOKS;
  /** @type {Caption[]} */
  const captions = [{
    title: isEven ? "Uniform at first." : "Before training.",
    text: `The weights are still random: ${gets(first)} of the attention of ${who}. Uniform attention would give ${percent(even)}.`,
    parts: view(0),
  }];
  if (direction) {
    const starts = values.findIndex((value) => direction > 0 ? value > LOOKS * even : value < even / LOOKS);
    const half = values.findIndex((value, at) => at >= starts && (value - (first + last) / 2) * direction >= 0);
    captions.push({
      title: direction > 0 ? "It starts to look." : "It starts to look away.",
      text: `${capital(stepText(starts))} is the first${recorded} step at which ${where} gets ${direction > 0 ? `more than ${LOOKS} times` : "less than two thirds of"} uniform attention: ${percent(values[starts])}.`,
      parts: view(starts),
    }, {
      title: direction > 0 ? "It turns." : "It turns away.",
      text: `At${recorded} ${stepText(half)} ${who} is half-way${recorded ? " or more" : ""} from its first to its last attention: ${gets(values[half])}.`,
      parts: view(half),
    }, {
      title: "It settles.",
      text: `At the end ${gets(last)} of the attention of ${who} in ${whoText(run, group)}. ${right}`,
      parts: view(end),
    });
  } else {
    const furthest = values.reduce((best, value, at) => Math.abs(value - even) > Math.abs(values[best] - even) ? at : best, 0);
    captions.push({
      title: areRight ? "It never needs to look." : "It never really looks.",
      text: `${capital(where)} gets about as much as under uniform attention; the furthest from that is ${percent(values[furthest])}, at ${stepText(furthest)}.`, parts: view(furthest),
    }, {
      title: "Half-way.", text: `At ${stepText(end >> 1)}, ${gets(values[end >> 1])}.`, parts: view(end >> 1),
    }, {
      title: "It ends there.", text: `At ${stepText(end)}, ${gets(last)}. ${right}${areRight ? " Uniform attention is enough." : ""}`, parts: view(end),
    });
  }
  captions.push(surprise(run, group, others, { end, layer, head, where, last, even, view, who }));
  return captions;
}

/** @param {Run} run @param {string} group @param {string | undefined} others @param {{ end: number, layer: number, head: number, where: string, last: number, even: number, view: (at: number, sample?: string) => any, who: string }} found @returns {Caption} */
function surprise(run, group, others, { end, layer, head, where, last, even, view, who }) {
  const parts = view(end, others ?? group);
  if (!others) return { title: "And elsewhere?", text: "This page holds samples of only one class.", parts, seeds: true };
  const looks = run.members(others).filter(({ marked }) => marked.length);
  if (!looks.length) {
    const weights = weightsOf({ run, sample: others, at: end, query: run.facts.cls, layer, head });
    const most = weights.indexOf(Math.max(...weights));
    return { title: "Without anything to find.", text: `In ${whoText(run, others)} nothing decides the label: ${who} gives most, ${percent(weights[most])}, to ${most === run.facts.cls ? "itself" : `position ${most}`}.`, parts, seeds: true };
  }
  const share = looks.reduce((sum, sample) => sum + run.onLabel(sample, end, layer, head), 0) / looks.length;
  const isFixed = decisive(run, others).length > 0;
  const evenThere = evenOf(run, others);
  const compared = share > LOOKS * evenThere ? "[CLS] must look there to know" : share < evenThere / LOOKS ? "[CLS] looks away there" : "about as much as under uniform attention";
  return {
    title: "The surprise.",
    text: `In ${whoText(run, others)}, ${isFixed ? where : "what the label depends on"} gets ${percent(share)}: ${compared}.${share > last ? ` That is more than in ${whoText(run, group)}.` : ""}`,
    parts, seeds: true,
  };
}

/** Captions for a run in which no position decides the label. @param {Run} run @param {string} group @param {string | undefined} others @param {number} end @param {(at: number, sample?: string) => any} view @param {string} who @param {string} right @returns {Caption[]} */
function withoutPlace(run, group, others, end, view, who, right) {
  const most = (/** @type {number} */ at, /** @type {string} */ sample) => {
    const parts = view(at, sample);
    const weights = weightsOf({ run, sample, at, query: parts.query, layer: parts.layer, head: parts.head });
    const key = weights.indexOf(Math.max(...weights));
    return `${key === run.facts.cls ? "itself" : `position ${key}`}, ${percent(weights[key])}`;
  };
  const even = run.uniform(run.members(group), run.facts.cls, () => [run.facts.cls]);
  const captions = [["Before training.", 0], ["A third.", Math.round(end / 3)], ["Two thirds.", Math.round(2 * end / 3)], ["It settles.", end]].map(([title, at]) => ({
    title: String(title),
    text: `At step ${run.stepName(Number(at))}, in ${whoText(run, group)}, ${who} gives the most to ${most(Number(at), group)}; uniform attention would give ${percent(even)}.${at === end ? ` ${right}` : ""}`,
    parts: view(Number(at)),
  }));
  return [...captions, {
    title: "The other class.", text: others ? `In ${whoText(run, others)}, ${who} gives the most to ${most(end, others)}.` : "This page holds samples of only one class.",
    parts: view(end, others ?? group), seeds: true,
  }];
}

/** Even attention on what decides the labels of a class; NaN if nothing does. @param {Run} run @param {string} group */
const evenOf = (run, group) => run.uniform(run.members(group).filter(({ marked }) => marked.length), run.facts.cls, ({ marked }) => marked);

/** The place that decides the labels of a class, in words; empty if there is none. @param {Run} run @param {string} group */
function placeText(run, group) {
  const fixed = decisive(run, group);
  const positions = fixed.join(" and ");
  if (fixed.length) return fixed.length > 1 ? `the pair of positions ${positions}` : `position ${positions}`;
  return run.members(group).some(({ marked }) => marked.length) ? "what decides the label" : "";
}

/** @param {Run} run @param {string} group */
const whoText = (run, group) => run.classCount > 2 || run.facts.classes.length ? `samples of ${run.className(run.groups[group])}` : group;

/** @param {Run} run @param {number} at */
function judgedAt(run, at) {
  const outcomes = run.samples.map((sample) => run.outcome(sample, at)).filter(Boolean);
  const right = outcomes.filter((outcome) => outcome === "right").length;
  return { count: outcomes.length, right, areRight: right === outcomes.length };
}

/** @param {Run} run @param {number} at */
function rightText(run, at) {
  const { count, right, areRight } = judgedAt(run, at);
  if (!count) return "";
  if (areRight) return `All ${right} samples of this page are right.`;
  return `${right} of the ${count} samples of this page are right.`;
}

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

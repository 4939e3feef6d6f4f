// Surprises: what one would expect of a training, and what the shown one does. Every number is computed from what is shown.

import { changedRun } from "../changes.js";
import { valueOf } from "../config.js";
import { fixed, mean, range } from "../numbers.js";
import { LOOKS, percent, placesText, weightsOf } from "./sentence.js";

/** @typedef {import("../run.js").Run} Run */
/** @typedef {import("../types").Sample} Sample */
/** @typedef {import("../types").Config} Config */
/** What is shown. @typedef {{ run: Run, sample: string, one: Sample | null, at: number, layer: number, head: number }} Shown */

/** @typedef {object} Surprise
 * @property {string} key its name in the address
 * @property {string} title
 * @property {string} expected
 * @property {Record<string, unknown>} settings
 * @property {(run: Run) => { sample?: string, layer?: number, head?: number }} [look] what to show of it, chosen among the page's samples
 * @property {(shown: Shown) => string} seen empty where the shown sample and step are no such case
 */

/** How many samples that were held out are right; empty if none were. @param {Run} run */
const heldOut = (run) => {
  const accuracy = accuracyOf(run);
  return Number.isFinite(accuracy) ? `${fixed(100 * accuracy, 1)}%` : "";
};

/** @param {Run} run */
const accuracyOf = (run) => Number(run.facts.ended?.held_out?.accuracy ?? NaN);

/** The positions that decide a sample, apart from [CLS]. @param {Run} run @param {Sample | null} one */
const placesOf = (run, one) => (one?.marked ?? []).filter((position) => position !== run.cls);

/** The attention of [CLS] on positions together. @param {Shown} shown @param {number[]} places @param {number} layer @param {number} head */
const shareOf = ({ run, sample, at }, places, layer, head) => {
  const weights = weightsOf({ run, sample, at, query: run.reader, layer, head });
  return places.reduce((sum, place) => sum + weights[place], 0);
};

/** The most that a head of a block gives positions together. @param {Shown} shown @param {number[]} places @param {number} layer */
const mostIn = (shown, places, layer) => Math.max(...range(shown.run.facts.heads).map((head) => shareOf(shown, places, layer, head)));

/** @param {Run} run @param {Sample} one @param {number} at */
const chance = (run, one, at) => `the probability of “${run.className(1)}” is ${fixed(run.probability(one, at), 3)}`;

/** Rows of [CLS] in the last block that give positions nothing. @param {Shown} shown @param {number[]} places */
function withoutIn({ run, sample, at }, places) {
  const { layers, heads } = run.facts;
  const { reader } = run;
  return range(heads).map((head) => {
    const weights = Array.from(weightsOf({ run, sample, at, query: reader, layer: layers - 1, head }), (weight, position) => places.includes(position) ? 0 : weight);
    const sum = weights.reduce((one, other) => one + other, 0);
    return { layer: layers - 1, head, query: reader, weights: weights.map((weight) => weight / (sum || 1)) };
  });
}

/** What samples of the other class give what decides them, and what becomes of them without it; empty if they look no more there. @param {Shown} shown @param {number} even @param {(sample: Sample) => number} share */
function contrast({ run, one, at }, even, share) {
  const others = run.samples.filter((other) => other.label !== one?.label && placesOf(run, other).length && run.outcome(other, at) === "right");
  const found = others.length ? mean(others.map(share)) : 0;
  if (found <= LOOKS * even) return "";
  const count = others.filter((other) => changedRun(run, { keys: placesOf(run, other) }).outcome(other, at) !== "right").length;
  const become = count === others.length ? `, and all ${count} become “${run.className(one?.label ?? null)}” if no token may look there: the model knows the token by not looking at it` : "";
  return ` The samples of “${run.className(others[0].label)}” give that place ${percent(found)} on average${become}.`;
}

/** @param {Shown} shown */
function looksElsewhere(shown) {
  const { run, one, at, sample } = shown;
  const { layers } = run.facts;
  const places = placesOf(run, one);
  if (!one || !places.length || layers < 2 || !run.isLive || run.outcome(one, at) !== "right") return "";
  const even = run.uniform([one], run.reader, () => places);
  const last = mostIn(shown, places, layers - 1);
  if (last > even / 3) return "";
  const [inLast, inAll] = [{ rows: withoutIn(shown, places) }, { keys: places }].map((changes) => changedRun(run, changes));
  const [late, early] = [inLast, inAll].map((changed) => fixed(changed.probability(one, at), 3));
  const isRead = inLast.outcome(one, at) === "right" && inAll.outcome(one, at) !== "right";
  const why = isRead ? ` If [CLS] may not look there in the last block, it is ${late}; if no token may look there in any block, ${early}. So a block before has read it.`
    : contrast(shown, even, (other) => mostIn({ ...shown, sample: other.key }, placesOf(run, other), layers - 1));
  return `No head of the last block gives ${placesText(run, sample, places)} more than ${percent(last)} (uniform attention: ${percent(even)}), and the answer is right: ${chance(run, one, at)}.${why}`;
}

/** @param {Shown} shown */
function looksAway(shown) {
  const { run, one, at, sample, layer, head } = shown;
  const places = placesOf(run, one);
  if (!one || !places.length || run.outcome(one, at) !== "right") return "";
  const share = (/** @type {Sample} */ other) => shareOf({ ...shown, sample: other.key }, placesOf(run, other), layer, head);
  const even = run.uniform([one], run.reader, () => places);
  if (share(one) >= even) return "";
  return `${capital(placesText(run, sample, places))} gets ${percent(share(one))}, less than under uniform attention (${percent(even)}), and the answer is right: ${chance(run, one, at)}.${contrast(shown, even, share)}`;
}

/** The tokens in another order, which another answer suits. @param {Run} run @param {Sample} one @returns {{ tokens: number[], what: string } | null} without [CLS] */
function rearranged(run, one) {
  const tokens = run.withoutCls(one.tokens);
  if (run.words) {
    const text = (/** @type {number} */ token) => run.facts.token_strings[token];
    const star = tokens.findIndex((token) => text(token) === "*");
    const rest = tokens.filter((_, at) => at !== star);
    const other = rest.findIndex((token, at) => text(token) === "the" && at !== star - 1);
    return star < 0 || other < 0 ? null : { tokens: rest.toSpliced(other + 1, 0, tokens[star]), what: "if * stands before the other thing" };
  }
  const [place] = placesOf(run, one);
  const to = run.positions - 1 === place ? place - 1 : run.positions - 1;
  if (place === undefined || to === run.cls) return null;
  const all = one.tokens.with(place, one.tokens[to]).with(to, one.tokens[place]);
  return { tokens: run.withoutCls(all), what: `if token ${run.tokenText(one, place)} stands at position ${to}` };
}

/** @param {Shown} shown */
function withoutPlaces({ run, one, at }) {
  const other = one && run.isLive && rearranged(run, one);
  if (!one || !other) return "";
  const [before, after] = [one, run.own(other.tokens)].map((sample) => fixed(run.probability(sample, at), 3));
  if (before !== after) return "";
  const right = heldOut(run);
  return `${capital(chance(run, one, at))}, and ${other.what} it is ${after} as well: the model reads each token, and cannot tell where it stands.${right && ` Of the samples that were held out, ${right} are right${alwaysText(run)}.`}`;
}

/** That a model gives one answer to all samples of the page; empty otherwise. @param {Run} run */
function alwaysText(run) {
  const at = run.at(run.opening);
  const answers = new Set(run.samples.map((sample) => run.predicted(sample, at)));
  return answers.size === 1 ? `, with the answer “${run.className([...answers][0])}” for every sample of this page` : "";
}

/** @param {Shown} shown */
function onlyItself(shown) {
  const { run, one, at, layer, head } = shown;
  const { cls } = run;
  if (!one || shareOf(shown, [cls], layer, head) < 0.9995) return "";
  const all = new Set(run.samples.map((sample) => fixed(run.probability(sample, at), 3)));
  if (all.size > 1) return "";
  const right = heldOut(run);
  return `[CLS] stands at position ${cls}, and may look only at itself: ${percent(shareOf(shown, [cls], layer, head))}. ${capital(chance(run, one, at))} for every sample.${right && ` Of the samples that were held out, ${right} are right${accuracyOf(run) > 0.8 ? " all the same" : ""}: the model answers “${run.className(run.predicted(one, at))}” for every sample, and so many are.`}`;
}

/** @param {Shown} shown */
function seesAll(shown) {
  const { run, one, at, sample, layer, head } = shown;
  const places = placesOf(run, one);
  if (!one || !places.length || run.outcome(one, at) !== "right" || run.keys(one, run.reader).length < run.positions) return "";
  const right = heldOut(run);
  return `[CLS] stands last, and may look at all ${run.positions} positions: ${placesText(run, sample, places)} gets ${percent(shareOf(shown, places, layer, head))}, and ${chance(run, one, at)}.${right && ` Of the samples that were held out, ${right} are right.`}`;
}

/** Where `not` stands, and whether it belongs to the marked thing. @param {Run} run @param {Sample} one */
function notIn(run, one) {
  const texts = range(run.positions).map((position) => run.tokenText(one, position));
  const [not, star, comma] = ["not", "*", ","].map((word) => texts.indexOf(word));
  return { not, isOwn: (not < comma) === (star < comma) };
}

/** @param {Shown} shown */
function findsNot(shown) {
  const { run, one, at, sample, layer, head } = shown;
  const places = placesOf(run, one);
  if (!one || !places.length || run.outcome(one, at) !== "right") return "";
  const { not, isOwn } = notIn(run, one);
  const even = run.uniform([one], run.reader, () => [not]);
  const share = not < 0 ? 0 : shareOf(shown, [not], layer, head);
  const with_ = run.samples.map((other) => ({ other, ...notIn(run, other) })).filter((found) => found.not >= 0);
  const means = [true, false].map((own) => with_.filter((found) => found.isOwn === own).map(({ other, not: place }) => shareOf({ ...shown, sample: other.key }, [place], layer, head)))
    .map((shares) => mean(shares));
  if (isOwn || share < LOOKS * even || !(Math.min(...means) > LOOKS * even)) return "";
  return `The “not” here belongs to the other thing, and gets ${percent(share)}; ${placesText(run, sample, places)}, which decides, gets ${percent(shareOf(shown, places, layer, head))}. The answer is right all the same. Over the samples of this page, this head gives “not” ${percent(means[0])} where it belongs to the marked thing, and ${percent(means[1])} where it belongs to the other: it finds the word, not what the word is about.`;
}

/** @param {Shown} shown */
function nearlyUniform(shown) {
  const { run, one, at } = shown;
  const { layers, heads } = run.facts;
  if (!one || run.outcome(one, at) !== "right") return "";
  const most = Math.max(...range(layers).flatMap((layer) => range(heads).flatMap((head) => Array.from(weightsOf({ ...shown, query: run.reader, layer, head })))));
  const even = 1 / run.keys(one, run.reader).length;
  const right = heldOut(run);
  return most > LOOKS * even ? "" : `No head of any block gives a token more than ${percent(most)} (uniform attention: ${percent(even)}), and the answer is right: ${chance(run, one, at)}.${right && ` Of the samples that were held out, ${right} are right.`}`;
}

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const POSITIONS = { key: "positions", title: "Without positions", settings: { "model.positions": false }, seen: withoutPlaces };
const CAUSAL = { key: "causal", title: "Causal mask", expected: "a token that may not look at later ones knows a little less.", settings: { "model.attention.mask": "causal" }, seen: onlyItself };
const ELSEWHERE = { key: "elsewhere", title: "Nearly no attention", expected: "what [CLS] does not look at cannot decide its answer.", seen: looksElsewhere };

/** @param {(run: Run, sample: Sample) => boolean} suits @param {{ layer?: number, head?: number }} [place] */
const first = (suits, place = {}) => (/** @type {Run} */ run) => ({ ...place, sample: run.samples.find((sample) => suits(run, sample))?.key ?? "" });

/** Experiments, and the surprises that trainings of them showed: `headlight sweep` found their seeds. @type {{ is: Record<string, unknown>, surprises: Surprise[] }[]} */
const EXPERIMENTS = [{
  is: {
    "data.rule": { kind: "token-at-position", token: 42, position: 3 }, "data.generator": "numpy", "data.seed": 0, "data.samples": 8000, "data.vocab_size": 51, "data.seq_len": 6, "data.cls": "first",
    "model.d_model": 8, "model.n_heads": 1, "model.n_layers": 1, "model.d_ff": 0, "training.epochs": 3, "training.batch_size": 16, "training.learning_rate": 0.001,
  },
  surprises: [
    { ...ELSEWHERE, settings: { "model.n_layers": 2, seed: 66 } },
    { key: "away", title: "A seed that looks away", expected: "a model that finds the token looks at it more than at others.", settings: { seed: 2479 }, seen: looksAway },
    { ...POSITIONS, expected: "each sample with the token gets “positive”, or the training fails." },
    CAUSAL,
    { key: "causal-last", title: "Causal mask, [CLS] last", expected: "a causal mask hides the token from [CLS].", settings: { "model.attention.mask": "causal", "data.cls": "last" }, seen: seesAll },
  ],
}, {
  is: {
    "data.rule": { kind: "sentence", corpus: "negation" }, "data.seed": 0, "data.samples": 6000, "data.cls": "first",
    "model.d_model": 16, "model.n_heads": 2, "model.n_layers": 2, "model.d_ff": 32, "training.epochs": 4, "training.batch_size": 16, "training.learning_rate": 0.003,
  },
  surprises: [
    { key: "only-not", title: "Finds only “not”", expected: "[CLS] looks at the word that decides, and at “not” only where it belongs to it.", settings: { seed: 1 }, look: first((run, one) => !notIn(run, one).isOwn && notIn(run, one).not >= 0, { layer: 1, head: 1 }), seen: findsNot },
    { ...ELSEWHERE, settings: { seed: 4 }, look: first((run, one) => one.label === 0 && one.marked.length === 1, { layer: 1, head: 1 }) },
    { key: "uniform", title: "Nearly uniform attention", expected: "a temperature of 1000 makes attention uniform, so the model cannot tell which word is asked about.", settings: { seed: 2, "model.attention.temperature": 1000 }, seen: nearlyUniform },
    { ...POSITIONS, expected: "the words are all there, so most answers stay right." },
    CAUSAL,
  ],
}];

/** The surprises that suit a page's config, whatever its seed. @param {Config | null} config @returns {Surprise[]} */
export function surprisesOf(config) {
  // They are about attention that [CLS] shares out, and answers that come from there.
  const { pooling = "cls", attention: { rate = 1, softmax = true } = {} } = config?.model ?? {};
  const found = config && (pooling === "cls" && softmax && rate === 1 ? EXPERIMENTS : []).find(({ is }) => Object.entries(is).every(([key, value]) => same(valueOf(config, key), value)));
  return found ? found.surprises.map((surprise) => ({ ...surprise, settings: Object.fromEntries(Object.entries(surprise.settings).filter(([key, value]) => valueOf(config, key) !== value)) })) : [];
}

/** @param {any} one @param {any} other */
const same = (one, other) => typeof other === "object" ? Object.entries(other).every(([key, value]) => one?.[key] === value) : one === other;

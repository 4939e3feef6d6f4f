// The stages of the stepper: what each computes, with its numbers and a sentence.

import { fixed, percent, range } from "../numbers.js";
import { clsOf, readerOf } from "../reader.js";
import { chancesOf } from "./computation.js";

/** @typedef {import("./computation.js").Computation} Computation */

/**
 * Numbers under each other and beside each other.
 * @typedef {object} Grid
 * @property {string} name
 * @property {string} [sign] what stands before it: `=`, `×`, `+`
 * @property {string[]} rows names
 * @property {string[]} columns names
 * @property {(number | null)[][]} values null where nothing is
 * @property {number} [chosen] the row that the sentence is about
 * @property {number} [key] the column that it is about
 * @property {string[][]} [marks] what a document prints beside the numbers
 */

/**
 * @typedef {object} Stage
 * @property {string} title
 * @property {string} formula `_` begins a subscript
 * @property {string} sentence
 * @property {Grid[]} grids
 * @property {Grid[]} [weights] of the model, which are shown on demand
 * @property {[ArrayLike<number>, ArrayLike<number>][]} [checks] what was computed, and the engine's
 * @property {boolean} [isChanged]
 */

/** How tokens and classes are called. @typedef {{ token: (position: number) => string, row: (position: number) => string, className: (label: number | null) => string, label: number | null }} Names */

// Larger squares show the row of the query alone.
const MOST_SQUARE = 16;

const number = (/** @type {number} */ value) => fixed(value, 3).replace("-", "−");
const precise = (/** @type {number} */ value) => String(Number(value.toPrecision(3))).replace("-", "−");
const term = (/** @type {number} */ value) => value < 0 ? `(${number(value)})` : number(value);
const indices = (/** @type {ArrayLike<unknown>} */ values) => range(values.length).map(String);

/** A sum of products, with its first terms. @param {ArrayLike<number>} one @param {ArrayLike<number>} other */
function terms(one, other) {
  const shown = range(Math.min(2, one.length)).map((at) => `${at ? term(one[at]) : number(one[at])} × ${term(other[at])}`);
  return `${shown.join(" + ")}${one.length > 2 ? " + …" : ""}`;
}

/** All stages of a computation, for the key that the sentences are about. @param {Computation} c @param {Names} names @param {number} key @returns {Stage[]} */
export function stagesOf(c, names, key) {
  const about = { c, names, key };
  return [inputs, projections, products, scores, weights, context, residual, norm, feedForward, later, decision].flatMap((stage) => stage(about) ?? []);
}

/** @typedef {{ c: Computation, names: Names, key: number }} About */

/** What a sentence calls a position. @param {About} about @param {number} position */
const called = ({ c, names }, position) => position === clsOf(c.facts) ? "[CLS]" : `position ${position} (${names.token(position)})`;

/** A matrix with a row for each position. @param {About} about @param {string} name @param {(position: number) => ArrayLike<number> | null} of @param {Partial<Grid>} [more] @returns {Grid} */
function byPosition({ c, names }, name, of, more = {}) {
  const values = c.positions.map((position) => Array.from(of(position) ?? []));
  return { name, rows: c.positions.map(names.row), columns: indices(values[0]), values, chosen: c.query, ...more };
}

/** A matrix of queries and keys; of many positions the row of the query alone. @param {About} about @param {string} name @param {(query: number) => (number | null)[]} of @param {Partial<Grid>} [more] @returns {Grid} */
function byPair({ c, names, key }, name, of, more = {}) {
  const shown = c.positions.length > MOST_SQUARE ? [c.query] : c.positions;
  return { name, rows: shown.map(names.row), columns: c.positions.map(names.row), values: shown.map(of), chosen: shown.indexOf(c.query), key, ...more };
}

/** Vectors under each other; the last one is the result. @param {string} name @param {[string, ArrayLike<number> | null | undefined][]} rows @param {Partial<Grid>} [more] @returns {Grid} */
function stack(name, rows, more = {}) {
  const known = rows.filter(([, values]) => values?.length);
  const values = known.map(([, values]) => Array.from(/** @type {ArrayLike<number>} */ (values)));
  return { name, rows: known.map(([row]) => row), columns: indices(values[0]), values, chosen: values.length - 1, ...more };
}

/** @param {About} about @returns {Stage} */
function inputs(about) {
  const { c, names } = about;
  const { query, layer } = c;
  const input = c.input();
  if (!input) return { title: "Inputs", formula: `X = output of layer ${layer - 1}`, grids: [], sentence: `Layer ${layer} takes what layer ${layer - 1} gives, which is not recorded.` };
  const x = byPosition(about, "X: inputs", (position) => c.input(position));
  if (layer > 0) {
    return {
      title: "Inputs", formula: `X = output of layer ${layer - 1}`, grids: [x], isChanged: c.isChanged("input"),
      sentence: `Layer ${layer} takes what layer ${layer - 1} gives: the vector of ${called(about, query)} begins with ${input.slice(0, 2).map(number).join(" and ")}.`,
    };
  }
  const embedding = c.embedding();
  if (!embedding) return { title: "Inputs", formula: "X = token + position", grids: [x], sentence: `The vectors of ${called(about, query)} as a token and as a position add up to its input, which begins with ${input.slice(0, 2).map(number).join(" and ")}.` };
  const { token, place } = embedding;
  const tokens = byPosition(about, "token vectors", (position) => c.embedding(position)?.token ?? null);
  return {
    title: "Inputs", formula: place ? "X = token + position" : "X = token", isChanged: c.isChanged("input"), checks: [[embedding.sum, input]],
    grids: place ? [tokens, byPosition(about, "position vectors", (position) => c.embedding(position)?.place ?? null, { sign: "+" }), { ...x, sign: "=" }] : [tokens],
    sentence: place
      ? `Token ${names.token(query)} has a vector, and so has position ${query}: their first numbers ${number(token[0])} and ${number(place[0])} add up to ${number(embedding.sum[0])}.`
      : `The vector of token ${names.token(query)} is the input, and begins with ${number(token[0])}: this model has no vectors of positions.`,
  };
}

/** @param {About} about @returns {Stage} */
function projections(about) {
  const { c, key } = about;
  const kinds = /** @type {const} */ (["query", "key", "value"]);
  const first = c.ofHead("query", c.query)[0];
  const letters = { query: "Q", key: "K", value: "V" };
  const projection = c.projection("query");
  const input = c.input();
  const isShared = projection !== null && String(projection.rows) === String(c.projection("key")?.rows) && String(projection.rows) === String(c.projection("value")?.rows);
  const hasNone = c.hasWeights && !projection;
  const how = projection && input ? `${terms(input, projection.rows.map((row) => row[0]))} + ${term(projection.bias[0])} = ${number(first)}` : number(first);
  const matrix = (/** @type {"query" | "key" | "value"} */ kind) => {
    const found = c.projection(kind);
    const name = isShared ? "W" : `W_${letters[kind]}`;
    return found ? [{ name: `${name} and bias`, rows: [...indices(found.rows), "bias"], columns: indices(found.bias), values: [...found.rows, found.bias] }] : [];
  };
  return {
    title: "Queries, keys, values",
    formula: hasNone ? "Q = K = V = X" : isShared ? "Q = K = V = X W + b" : "Q = X W_Q + b_Q,  K = X W_K + b_K,  V = X W_V + b_V",
    grids: kinds.map((kind) => byPosition(about, `${letters[kind]}: ${{ query: "queries", key: "keys", value: "values" }[kind]}`, (position) => c.ofHead(kind, position), kind === "query" ? {} : { chosen: key })),
    weights: isShared ? matrix("query") : kinds.flatMap(matrix),
    checks: kinds.flatMap((kind) => c.positions.flatMap((position) => {
      const computed = c.projected(kind, position);
      return computed ? [/** @type {[number[], number[]]} */ ([computed, c.ofHead(kind, position)])] : [];
    })),
    sentence: `The first number of the query of ${called(about, c.query)} is ${how}; the key and the value of ${called(about, key)} begin with ${number(c.ofHead("key", key)[0])} and ${number(c.ofHead("value", key)[0])}.`,
  };
}

/** @param {About} about @returns {Stage} */
function products(about) {
  const { c, key, names } = about;
  const [query, own] = [c.ofHead("query", c.query), c.ofHead("key", key)];
  const found = c.products();
  const most = found.indexOf(Math.max(...found));
  return {
    title: "Products", formula: "query · key, for each pair: Q K^T",
    grids: [
      { name: "query", rows: [names.row(c.query)], columns: indices(query), values: [query], chosen: 0 },
      byPosition(about, "K: keys", (position) => c.ofHead("key", position), { sign: "·", chosen: key }), byPair(about, "Q K^T: products", (position) => c.products(position), { sign: "=" }),
    ],
    sentence: `The query of ${called(about, c.query)} times the key of ${called(about, key)} is ${terms(query, own)} = ${number(found[key])}${most === key ? ", the largest product of its row" : `; its largest product is ${number(found[most])}, with ${called(about, most)}`}.`,
  };
}

/** @param {About} about @returns {Stage} */
function scores(about) {
  const { c, key } = about;
  const { facts, factor } = c;
  const allowed = c.positions.filter((position) => c.allows(position));
  const [found, engine] = [c.products(), c.scores()];
  const name = factor === facts.factor ? facts.factor_text : number(factor);
  return {
    title: "Scores", formula: `scores = Q K^T × ${name}`,
    grids: [byPair(about, "products", (position) => c.products(position)), byPair(about, "scores", (position) => c.products(position).map((value) => value * factor), { sign: `× ${number(factor)} =` })],
    checks: c.hasWeights ? [[allowed.map((position) => found[position] * factor), allowed.map((position) => engine[position])]] : undefined,
    sentence: `${number(found[key])} × ${number(factor)} = ${number(found[key] * factor)}: the score of ${called(about, key)}. Without the factor, longer vectors would have larger products, and the softmax would be sharper.`,
  };
}

/** @param {About} about @returns {Stage} */
function weights(about) {
  const { c, key } = about;
  const [own, found] = [c.scores(), c.weights()];
  const allowed = c.positions.filter((position) => c.allows(position));
  const most = Math.max(...allowed.map((position) => own[position]));
  const total = allowed.reduce((total, position) => total + Math.exp(own[position] - most), 0);
  const hidden = (/** @type {number[]} */ values, /** @type {number} */ query) => values.map((value, position) => c.allows(position, query) ? value : null);
  const share = `${called(about, c.query)} gives ${percent(found[key])} of its attention to ${key === c.query ? "itself" : called(about, key)}`;
  const isSet = c.isChanged("softmax");
  return {
    title: "Softmax", formula: "weight = exp(score) / sum of exp(score) over the keys", isChanged: isSet,
    grids: [byPair(about, "scores", (query) => hidden(c.scores(query), query)), byPair(about, "weights", (query) => hidden(c.weights(query), query), { sign: "→" })],
    checks: c.hasWeights ? [[c.shares(), found]] : undefined,
    sentence: isSet ? `You have set the weights of this query: ${share}.`
      : c.allows(key) ? `exp(${number(own[key])} − ${term(most)}) = ${number(Math.exp(own[key] - most))}; divided by the sum over the keys, ${number(total)}, it is ${number(Math.exp(own[key] - most) / total)}: ${share}. The largest score is subtracted first, which changes no weight.`
        : `${called(about, c.query)} may not look at ${called(about, key)}: its weight is 0.`,
  };
}

/** @param {About} about @returns {Stage} */
function context(about) {
  const { c, key, names } = about;
  const [own, found, engine] = [c.weights(), c.context(), c.ofHead("context", c.query)];
  const isChanged = c.isChanged("context");
  const keys = [key, ...c.positions.filter((position) => position !== key)];
  return {
    title: "Weighted sum", formula: "context = sum of weight × value over the keys", isChanged,
    grids: [
      { name: "weights", rows: [names.row(c.query)], columns: c.positions.map(names.row), values: [own], chosen: 0, key },
      byPosition(about, "V: values", (position) => c.ofHead("value", position), { sign: "×", chosen: key }),
      stack("context", isChanged ? [["sum", found], ["context", engine]] : [["context", engine]], { sign: "=" }),
    ],
    checks: c.hasWeights ? [[found, engine]] : undefined,
    sentence: isChanged
      ? `The values times the weights begin with ${number(found[0])}; with your change, the context begins with ${number(engine[0])}.`
      : `The first number of the context is ${terms(keys.map((position) => own[position]), keys.map((position) => c.ofHead("value", position)[0]))} = ${number(found[0])}; the value of ${called(about, key)} counts with the weight ${number(own[key])}.`,
  };
}

/** @param {About} about @returns {Stage | null} */
function residual(about) {
  const { c } = about;
  const engine = c.ofPosition("residual");
  const found = c.residual();
  const input = c.input();
  if (!engine) return null;
  const output = found?.output ?? (input && engine.map((value, at) => value - input[at]));
  const heads = c.facts.heads > 1 ? `the contexts of all ${c.facts.heads} heads, one after the other` : "the context";
  const begin = `${heads.charAt(0).toUpperCase()}${heads.slice(1)}, times the output matrix${c.hasWeights ? ", plus its bias," : ""} ${c.facts.heads > 1 ? "give" : "gives"} an output`;
  return {
    title: "Output and residual", formula: c.facts.heads > 1 ? "residual = X + (context_1 … context_n) W_O + b_O" : "residual = X + context W_O + b_O", isChanged: c.isChanged("residual"),
    grids: [stack(c.facts.heads > 1 ? "contexts of all heads" : "context", [[c.facts.heads > 1 ? "contexts" : "context", c.contexts()]]), stack("residual", [["output", output], ["input", input], ["residual", found?.sum ?? engine]], { sign: "→" })],
    weights: found ? [{ name: "W_O and bias", rows: [...indices(found.projection.rows), "bias"], columns: indices(found.projection.bias), values: [...found.projection.rows, found.projection.bias] }] : undefined,
    checks: found ? [[found.sum, engine]] : undefined,
    sentence: output && input ? `${begin} that is added to the input: the first numbers, ${number(output[0])} and ${number(input[0])}, make ${number(output[0] + input[0])}.` : `${begin} that is added to the input; the residual begins with ${number(engine[0])}.`,
  };
}

/** @param {About} about @returns {Stage | null} */
function norm(about) {
  const { c } = about;
  const [found, own] = [c.norm(), c.ofPosition("residual")];
  if (!found || !own) return null;
  const [gamma, beta] = [c.vector(`${c.block}.norm.gamma`), c.vector(`${c.block}.norm.beta`)];
  const engine = c.facts.has_feed_forward ? null : c.ofPosition("output");
  const { mean, variance, even, scaled } = found;
  const start = `The residual has the mean ${precise(mean)} and the variance ${precise(variance)}: (${number(own[0])} − ${mean < 0 ? `(${precise(mean)})` : precise(mean)}) / √(${precise(variance)} + ${c.facts.norm_eps}) = ${number(even[0])}`;
  return {
    title: "Norm", formula: "norm = (residual − mean) / √(variance + ε) × γ + β", isChanged: engine !== null && c.isChanged("output"),
    grids: [stack("residual", [["residual", own]]), stack("norm", [["normalised", even], ["γ: scale", gamma], ["β: shift", beta], ["norm", scaled ?? engine]], { sign: "→" })],
    checks: scaled && engine ? [[scaled, engine]] : undefined,
    sentence: scaled && gamma && beta ? `${start}; times the scale ${number(gamma[0])}, plus the shift ${number(beta[0])}, it is ${number(scaled[0])}.` : `${start}. The scale and the shift that follow are not recorded.`,
  };
}

/** @param {About} about @returns {Stage | null} */
function feedForward(about) {
  const { c } = about;
  const found = c.feedForward();
  const [hidden, between, output] = [c.ofPosition("feed_forward_hidden"), c.ofPosition("feed_forward_residual"), c.ofPosition("output")];
  if (!found || !hidden || !between || !output || !found.norm.scaled) return null;
  const alive = hidden.filter((value) => value > 0).length;
  return {
    title: "Feed-forward", formula: "hidden = max(0, norm W_1 + b_1),  output = norm(norm + hidden W_2 + b_2)", isChanged: c.isChanged("output"),
    grids: [stack("hidden", [["hidden", found.hidden]]), stack("output of the block", [["norm", found.input], ["layer's output", found.output], ["residual", found.residual], ["second norm", found.norm.scaled]], { sign: "→" })],
    checks: [[found.hidden, hidden], [found.residual, between], [found.norm.scaled, output]],
    sentence: `${alive} of the ${hidden.length} hidden numbers are above 0, and the others are set to 0; the first number, ${number(found.input[0])}, becomes ${number(found.residual[0])}, and ${number(found.norm.scaled[0])} after a second norm.`,
  };
}

/** @param {About} about @returns {Stage | null} */
function later({ c }) {
  const { cls, layers } = c.facts;
  const blocks = range(layers).slice(c.layer + 1);
  if (!blocks.length || !c.input(cls, c.layer + 1)) return null;
  const end = c.ofPosition("output", cls, layers - 1) ?? [];
  return {
    title: blocks.length > 1 ? "Later layers" : "Next layer", formula: "X = output of the layer before",
    grids: [stack(`vectors of ${readerOf(c.facts)}`, blocks.flatMap((layer) => /** @type {[string, number[] | null][]} */ ([[`input of layer ${layer}`, c.input(cls, layer)], [`residual of layer ${layer}`, c.ofPosition("residual", cls, layer)], [`output of layer ${layer}`, c.ofPosition("output", cls, layer)]])))],
    sentence: `${blocks.length > 1 ? `Layers ${blocks[0]} to ${layers - 1} do` : `Layer ${blocks[0]} does`} the same with the outputs of the layer before; at the end the vector of ${readerOf(c.facts)} begins with ${number(end[0])}.`,
  };
}

/** @param {About} about @returns {Stage} */
function decision({ c, names }) {
  const { logits, probabilities } = c.way;
  const found = c.classified();
  const several = logits.length > 1;
  const chances = chancesOf(logits);
  const chosen = several ? logits.indexOf(Math.max(...logits)) : Number(logits[0] > 0);
  const reader = readerOf(c.facts);
  const after = c.query === c.facts.cls ? "" : `The classifier reads ${reader} alone. `;
  const weightsOf = (/** @type {number} */ logit) => found?.classifier.rows.map((row) => row[logit]) ?? [];
  /** @type {Grid[]} */
  const reading = found ? [stack(`output of ${reader}, and the classifier's weights`, [[`output of ${reader}`, found.read], ...range(logits.length).map((logit) => /** @type {[string, number[]]} */ ([several ? `weights of ${names.className(logit)}` : "weights", weightsOf(logit)]))], { chosen: 0 })] : [];
  const classes = several ? range(logits.length).map(names.className) : ["logit"];
  const label = names.label === null ? "" : `, and the label is ${names.className(names.label)}`;
  const how = found ? `${terms(found.read, weightsOf(several ? chosen : 0))} + ${term(found.classifier.bias[several ? chosen : 0])} = ${number(found.logits[several ? chosen : 0])}` : number(logits[several ? chosen : 0]);
  return {
    title: "Decision", formula: several ? `logits = output of ${reader} × W + b,  probabilities = softmax(logits)` : `logit = output of ${reader} · w + b,  probability = 1 / (1 + exp(−logit))`,
    grids: [...reading, several
      ? { name: "logits and probabilities", sign: found ? "→" : undefined, rows: ["logits", "probabilities"], columns: classes, values: [logits, probabilities], chosen: 1, key: chosen }
      : { name: "logit and probability", sign: found ? "→" : undefined, rows: [""], columns: ["logit", "probability"], values: [[logits[0], probabilities[0]]], chosen: 0 }],
    checks: found ? [[found.logits, logits], [chances, probabilities]] : undefined,
    sentence: several
      ? `${after}The logit of ${names.className(chosen)} is ${how}, the highest: the model answers ${names.className(chosen)} with probability ${number(probabilities[chosen])}${label}.`
      : `${after}The logit is ${how}, and the probability of ${names.className(1)} is 1 / (1 + exp(${number(-logits[0])})) = ${number(chances[0])}: the model answers ${names.className(chosen)}${label}.`,
  };
}

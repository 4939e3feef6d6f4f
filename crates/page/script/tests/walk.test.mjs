// The walk through a computation. That its numbers are the engine's, for models of every part, is in models.test.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";
const [{ Computation, difference }, { matches, wordsOf }, { stagesOf }] = await load("walk/computation", "tabs/samples/search", "walk/stages");

const near = (one, other) => assert.ok(difference(one, other) < 1e-6, `${one} and ${other}`);

test("a difference that cannot be told is none of 0", () => {
  assert.equal(difference([1, 2], [1, 2.5]), 0.5);
  assert.ok(Number.isNaN(difference([1, NaN], [1, 2])) && Number.isNaN(difference([NaN], [1, 2])));
});

// A model of two positions, two heads of width 1, and a feed-forward layer of width 3.
const FACTS = { layers: 2, heads: 2, positions: 2, d_head: 1, d_model: 2, factor: 1, factor_text: "1 / √1", norm_eps: 1e-6, cls: 0, has_feed_forward: true, classes: [] };
const OF_A_BLOCK = {
  ...Object.fromEntries(["query", "key", "value"].flatMap((kind) => [[`attention.${kind}.weight`, [[2, 2], [1, 2, 3, 4]]], [`attention.${kind}.bias`, [[2], [0.1, 0.2]]]])),
  "attention.output.weight": [[2, 2], [1, 0, 0, 1]], "attention.output.bias": [[2], [1, -1]],
  "norm.gamma": [[2], [1, 2]], "norm.beta": [[2], [0, 1]],
  "feed_forward.hidden.weight": [[2, 3], [1, -1, 0, 0, 0, 1]], "feed_forward.hidden.bias": [[3], [0, 0, 0]],
  "feed_forward.output.weight": [[3, 2], [1, 0, 0, 1, 1, 1]], "feed_forward.output.bias": [[2], [0, 0]],
  "feed_forward.norm.gamma": [[2], [1, 1]], "feed_forward.norm.beta": [[2], [0, 0]],
};
const PARAMETERS = {
  token_embedding: [[3, 2], [9, 9, 1, 2, 3, 4]], position_embedding: [[2, 2], [0.5, 0, 0, 0.5]],
  "classifier.weight": [[2, 1], [2, -1]], "classifier.bias": [[1], [0.5]],
};
function parameter(name) {
  const found = PARAMETERS[name] ?? OF_A_BLOCK[name.replace(/^blocks\.\d\./, "")];
  return found ? { shape: found[0], values: Float32Array.from(found[1]) } : null;
}

// [layer, head, position, d_head] and [layer, position, width]: each number says where it lies.
const count = (length, from = 0) => Float32Array.from({ length }, (_, at) => from + at);
const ARRAYS = {
  query: count(8, 100), key: count(8, 200), value: count(8, 300), context: count(8, 400), embeddings: count(4), residual: count(8, 10), output: count(8, 20),
  feed_forward_hidden: count(12, 30), feed_forward_residual: count(8, 50),
};
const way = (parts = {}) => new Computation({
  facts: FACTS, tokens: [1, 2], arrays: ARRAYS, parameter, row: (name) => name === "scores" ? [0, Math.log(3)] : [0.25, 0.75],
  allows: () => true, logits: [0.5], probabilities: [0.6], changes: {}, layer: 1, head: 1, query: 1, ...parts,
});

test("arrays are read in their place, and a head takes its columns", () => {
  const c = way();
  assert.deepEqual([c.ofHead("query", 1), c.contexts(), c.ofPosition("residual"), c.ofPosition("feed_forward_hidden")], [[107], [405, 407], [16, 17], [39, 40, 41]]);
  assert.deepEqual([c.input(), way({ layer: 0 }).input(0), c.ofPosition("feed_forward_nothing")], [[22, 23], [0, 1], null]);
  near(c.projected("query"), [22 * 2 + 23 * 4 + 0.2]);
  assert.deepEqual(c.classified().logits, [24 * 2 - 25 + 0.5]);
});

test("scores have the factor of the temperature, and keys without permission weigh nothing", () => {
  assert.deepEqual(way({ changes: { temperature: 2 } }).factor, 0.5);
  near(way().shares(), [0.25, 0.75]);
  near(way({ changes: { keys: [1] } }).shares(), [1, 0]);
  near(way({ allows: (query, key) => key <= query, query: 0 }).shares(), [1, 0]);
});

test("a recording has no weights, and what needs them is missing", () => {
  const c = way({ parameter: () => null, arrays: { ...ARRAYS, output: undefined }, layer: 0 });
  assert.ok(!c.hasWeights);
  assert.deepEqual([c.projected("query"), c.embedding(), c.residual(), c.feedForward(), c.classified(), c.norm().scaled], [null, null, null, null, null, null]);
  assert.equal(way({ arrays: { ...ARRAYS, output: undefined } }).input(), null);
});

test("a change of the reader takes effect in one place", () => {
  const changes = { heads: [[1, 1]], rows: [{ layer: 1, head: 0, query: 1, weights: [1, 0] }], patches: [{ place: "output", layer: 0, position: 1, from: "1" }, { place: "residual", layer: 1, position: 0, from: "1" }] };
  const c = way({ changes });
  assert.deepEqual(["input", "softmax", "context", "residual", "output"].map((where) => c.isChanged(where)), [true, false, true, false, false]);
  assert.ok(way({ changes, head: 0 }).isChanged("softmax") && way({ changes, query: 0 }).isChanged("residual") && way({ changes, layer: 0 }).isChanged("output"));
});

const NAMES = { token: (position) => ["[CLS]", "42"][position], row: (position) => `${position}: ${["[CLS]", "42"][position]}`, className: (label) => label ? "positive" : "negative", label: 1 };

test("stages follow the model, and their sentences have its numbers", () => {
  const titles = (parts) => stagesOf(way(parts), NAMES, 1).map(({ title }) => title);
  assert.deepEqual(titles(), ["Inputs", "Queries, keys, values", "Products", "Scores", "Softmax", "Weighted sum", "Output and residual", "Norm", "Feed-forward", "Decision"]);
  assert.ok(titles({ layer: 0 }).includes("Next layer"));
  assert.deepEqual(titles({ facts: { ...FACTS, model: { norm: "pre" } } }).slice(0, 3), ["Inputs", "Norm", "Queries, keys, values"]);
  assert.ok(!titles({ facts: { ...FACTS, model: { norm: "none" } } }).includes("Norm"));
  const stages = stagesOf(way({ layer: 0, head: 0 }), NAMES, 1);
  const sentence = (title) => stages.find((stage) => stage.title === title).sentence;
  assert.equal(sentence("Inputs"), "Token 42 has a vector, and so has position 1: their first numbers 3.000 and 0.000 add up to 3.000.");
  assert.match(sentence("Softmax"), /^exp\(1\.099 − 1\.099\) = 1\.000; divided by the sum over the keys, 1\.333, it is 0\.750: position 1 \(42\) gives 75% of its attention to itself\./);
  assert.match(sentence("Decision"), /^The classifier reads \[CLS\] alone\. The logit is 24\.000 × 2\.000 \+ 25\.000 × \(−1\.000\) \+ 0\.500 = 23\.500/);
  for (const { grids } of stages) for (const { rows, columns, values } of grids) assert.ok(rows.length === values.length && values.every((cells) => cells.length === columns.length));
  const mixed = stagesOf(way({ facts: { ...FACTS, model: { attention: { rate: 0.5 } } } }), NAMES, 1).find(({ title }) => title === "Softmax");
  assert.match(mixed.formula, /^weight = 0\.5 × exp/);
  assert.ok(!mixed.sentence.includes("%"), mixed.sentence);
});

test("of many positions, the squares have the row of the query alone, and padding has none", () => {
  const positions = 20;
  const facts = { ...FACTS, layers: 1, heads: 1, d_head: 2, positions, has_feed_forward: false };
  const arrays = Object.fromEntries(["query", "key", "value", "context", "embeddings", "residual", "output"].map((name) => [name, count(2 * positions)]));
  const c = new Computation({ ...way().way, facts, arrays, parameter: () => null, tokens: Array(positions).fill(1), row: () => Array(positions).fill(1 / positions), layer: 0, head: 0, query: 7 });
  const weights = (count) => stagesOf(c, { ...NAMES, token: String, row: String, count }, 3).find(({ title }) => title === "Softmax").grids[0];
  assert.deepEqual([weights().rows, weights().chosen, weights().columns.length], [["7"], 0, positions]);
  assert.deepEqual([weights(9).rows.length, weights(9).values[8].length, weights(9).columns.length], [9, 9, 9]);
});

test("without [CLS] the classifier reads another position, or the mean over what is not padding", () => {
  const facts = { ...FACTS, cls: null, read: 1 };
  assert.match(stagesOf(way({ facts, query: 0 }), NAMES, 1).at(-1).sentence, /^The classifier reads the last position alone\./);
  const mean = (attention) => way({ facts: { ...facts, model: { pooling: "mean", attention } } }).classified().output;
  // The outputs [24, 25] and [26, 27].
  assert.deepEqual([mean({}), mean({ padding_token: 2 })], [[25, 26], [24, 25]]);
});

test("a search finds whole tokens that follow each other", () => {
  const sample = { number: 10, tokens: [0, 16, 5, 42, 43] };
  const found = (text, names = ["[CLS]", "16", "5", "42", "43"]) => matches(sample, names, wordsOf(text));
  for (const text of ["", "  ", "42", "16 5 42", " 16,  5 ;42 ", "10", "[CLS] 16"]) assert.ok(found(text), text);
  for (const text of ["4", "6 5", "16 42", "42 5", "10 16"]) assert.ok(!found(text), text);
  const words = ["[CLS]", "New York", "is", "GREAT", ","];
  for (const text of ["new york IS", "york", "5 42", ","]) assert.ok(found(text, words), text);
  assert.ok(!found("gre", words));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { affine, chancesOf, Computation, difference, normOf, product, sum, weighted } from "../src/parts/computation.js";
import { ACTIVATIONS, placeOf, rotated } from "../src/parts/functions.js";
import { matches, wordsOf } from "../src/parts/search.js";
import { stagesOf } from "../src/parts/stages.js";

const near = (one, other) => assert.ok(difference(one, other) < 1e-6, `${one} and ${other}`);

test("products, sums and weighted sums", () => {
  assert.equal(product([1, 2, 3], [4, 5, 6]), 32);
  assert.deepEqual(sum([1, 2], [10, 20], [100, 200]), [111, 222]);
  assert.deepEqual(weighted([0.25, 0.75], [[4, 0], [8, 4]]), [7, 3]);
  assert.deepEqual(affine([1, 2], { rows: [[1, 2, 3], [10, 20, 30]], bias: [0.5, 0, -3] }), [21.5, 42, 60]);
});

test("a difference that cannot be told is none of 0", () => {
  assert.equal(difference([1, 2], [1, 2.5]), 0.5);
  assert.ok(Number.isNaN(difference([1, NaN], [1, 2])));
  assert.ok(Number.isNaN(difference([NaN], [1, 2])));
});

test("a norm has mean 0 and variance 1, then its scale and shift", () => {
  const { mean, variance, even, scaled } = normOf([1, 3], 0, [2, 2], [0, 10]);
  assert.deepEqual([mean, variance, even, scaled], [2, 1, [-1, 1], [-2, 12]]);
  assert.equal(normOf([1, 3], 0).scaled, null);
  // Equal numbers have no variance: the epsilon keeps the division possible.
  assert.deepEqual(normOf([5, 5], 1e-6).even, [0, 0]);
});

test("one logit stands for a sigmoid, several for a softmax", () => {
  near(chancesOf([0]), [0.5]);
  near(chancesOf([-1000, 0, 0]), [0, 0.5, 0.5]);
});

// A model of two positions, two heads of width 1, and a feed-forward layer of width 3.
const FACTS = { layers: 2, heads: 2, positions: 2, d_head: 1, d_model: 2, factor: 1, factor_text: "1 / √1", norm_eps: 1e-6, cls: 0, has_feed_forward: true, classes: [] };
const PARAMETERS = {
  token_embedding: [[3, 2], [9, 9, 1, 2, 3, 4]],
  position_embedding: [[2, 2], [0.5, 0, 0, 0.5]],
  "classifier.weight": [[2, 1], [2, -1]], "classifier.bias": [[1], [0.5]],
};
for (const layer of [0, 1]) {
  for (const kind of ["query", "key", "value"]) Object.assign(PARAMETERS, { [`blocks.${layer}.attention.${kind}.weight`]: [[2, 2], [1, 2, 3, 4]], [`blocks.${layer}.attention.${kind}.bias`]: [[2], [0.1, 0.2]] });
  Object.assign(PARAMETERS, {
    [`blocks.${layer}.attention.output.weight`]: [[2, 2], [1, 0, 0, 1]], [`blocks.${layer}.attention.output.bias`]: [[2], [1, -1]],
    [`blocks.${layer}.norm.gamma`]: [[2], [1, 2]], [`blocks.${layer}.norm.beta`]: [[2], [0, 1]],
    [`blocks.${layer}.feed_forward.hidden.weight`]: [[2, 3], [1, -1, 0, 0, 0, 1]], [`blocks.${layer}.feed_forward.hidden.bias`]: [[3], [0, 0, 0]],
    [`blocks.${layer}.feed_forward.output.weight`]: [[3, 2], [1, 0, 0, 1, 1, 1]], [`blocks.${layer}.feed_forward.output.bias`]: [[2], [0, 0]],
    [`blocks.${layer}.feed_forward.norm.gamma`]: [[2], [1, 1]], [`blocks.${layer}.feed_forward.norm.beta`]: [[2], [0, 0]],
  });
}
const parameter = (name) => PARAMETERS[name] ? { shape: PARAMETERS[name][0], values: Float32Array.from(PARAMETERS[name][1]) } : null;

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

test("arrays are read in their place", () => {
  const c = way();
  assert.deepEqual(c.ofHead("query", 1), [107]);
  assert.deepEqual(c.contexts(), [405, 407]);
  assert.deepEqual(c.ofPosition("residual"), [16, 17]);
  assert.deepEqual(c.ofPosition("feed_forward_hidden"), [39, 40, 41]);
  assert.deepEqual(c.input(), [22, 23]);
  assert.deepEqual(way({ layer: 0 }).input(0), [0, 1]);
  assert.equal(c.ofPosition("feed_forward_nothing"), null);
});

test("a head takes its columns of a projection", () => {
  near(way().projected("query"), [22 * 2 + 23 * 4 + 0.2]);
  near(way({ head: 0 }).projected("query"), [22 * 1 + 23 * 3 + 0.1]);
});

test("projections may be shared, or none", () => {
  const shared = (name) => name.includes("shared") ? { shape: name.endsWith("bias") ? [2] : [2, 2], values: Float32Array.of(1, 2, 3, 4).slice(0, name.endsWith("bias") ? 2 : 4) } : /query|key|value/.test(name) ? null : parameter(name);
  near(way({ parameter: shared }).projected("key"), [22 * 2 + 23 * 4 + 2]);
  const none = (name) => /query|key|value/.test(name) ? null : parameter(name);
  near(way({ parameter: none }).projected("value"), [23]);
});

test("a token's vector and its position's add up; positions may have none", () => {
  assert.deepEqual(way().embedding().sum, [3, 4.5]);
  assert.deepEqual(way({ parameter: (name) => name === "position_embedding" ? null : parameter(name) }).embedding().sum, [3, 4]);
});

test("scores have the factor of the temperature, and keys without permission weigh nothing", () => {
  assert.deepEqual(way({ changes: { temperature: 2 } }).factor, 0.5);
  near(way().shares(), [0.25, 0.75]);
  near(way({ changes: { keys: [1] } }).shares(), [1, 0]);
  near(way({ allows: (query, key) => key <= query, query: 0 }).shares(), [1, 0]);
  near(way().context(), [0.25 * 306 + 0.75 * 307]);
});

test("output, residual, norm and feed-forward layer", () => {
  const { output, sum: residual } = way().residual();
  assert.deepEqual([output, residual], [[406, 406], [428, 429]]);
  const { hidden } = way().feedForward();
  // The norm of [16, 17] is [-1, 1], with scale and shift [-1, 3].
  assert.ok(difference(hidden, [0, 1, 3]) < 1e-4, String(hidden));
});

test("the classifier reads [CLS] after the last block", () => {
  const { read, logits } = way().classified();
  assert.deepEqual([read, logits], [[24, 25], [24 * 2 - 25 + 0.5]]);
});

test("a recording has no weights, and what needs them is missing", () => {
  const c = way({ parameter: () => null, arrays: { ...ARRAYS, output: undefined }, layer: 0 });
  assert.ok(!c.hasWeights);
  assert.deepEqual([c.projected("query"), c.embedding(), c.residual(), c.feedForward(), c.classified()], [null, null, null, null, null]);
  assert.equal(c.norm().scaled, null);
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
  const stages = stagesOf(way({ layer: 0, head: 0 }), NAMES, 1);
  const sentence = (title) => stages.find((stage) => stage.title === title).sentence;
  assert.equal(sentence("Inputs"), "Token 42 has a vector, and so has position 1: their first numbers 3.000 and 0.000 add up to 3.000.");
  assert.match(sentence("Softmax"), /^exp\(1\.099 − 1\.099\) = 1\.000; divided by the sum over the keys, 1\.333, it is 0\.750: position 1 \(42\) gives 75% of its attention to itself\./);
  assert.match(sentence("Decision"), /^The classifier reads \[CLS\] alone\. The logit is 24\.000 × 2\.000 \+ 25\.000 × \(−1\.000\) \+ 0\.500 = 23\.500/);
  for (const { grids } of stages) for (const { rows, columns, values } of grids) assert.ok(rows.length === values.length && values.every((cells) => cells.length === columns.length));
});

test("of many positions, the squares have the row of the query alone", () => {
  const positions = 20;
  const facts = { ...FACTS, layers: 1, heads: 1, d_head: 2, positions, has_feed_forward: false };
  const arrays = Object.fromEntries(["query", "key", "value", "context", "embeddings", "residual", "output"].map((name) => [name, count(2 * positions)]));
  const c = new Computation({ ...way().way, facts, arrays, parameter: () => null, tokens: Array(positions).fill(1), row: () => Array(positions).fill(1 / positions), layer: 0, head: 0, query: 7 });
  const [weights] = stagesOf(c, { ...NAMES, token: String, row: String }, 3).find(({ title }) => title === "Softmax").grids;
  assert.deepEqual([weights.rows, weights.chosen, weights.columns.length], [["7"], 0, positions]);
});

// Of tables of the normal distribution: Φ(1) = 0.8413447461, Φ(-3) = 0.0013498980.
test("activations, fixed positions and rotations", () => {
  near([1, -3, 6, 0].map(ACTIVATIONS.gelu.of), [0.8413447461, -0.004049694, 6, 0]);
  assert.ok(difference([1, -3, 0.5].map(ACTIVATIONS["gelu-tanh"].of), [1, -3, 0.5].map(ACTIVATIONS.gelu.of)) < 1e-3);
  near([0, 1].map(ACTIVATIONS.silu.of), [0, 1 / (1 + Math.exp(-1))]);
  near(placeOf("sinusoidal", 3, 4), [Math.sin(3), Math.cos(3), Math.sin(0.03), Math.cos(0.03)]);
  assert.deepEqual([placeOf("first", 1, 3), placeOf("first", 2, 3), placeOf("rotary", 1, 4)], [[1, 0, 0], [0, 0, 0], null]);
  // A rotation keeps lengths, and products depend on the distance alone.
  const [one, other] = [[1, 2, 3, 4], [0.5, -1, 2, 0]];
  near([product(rotated(one, 5), rotated(one, 5))], [30]);
  near([product(rotated(one, 5), rotated(other, 2))], [product(rotated(one, 8), rotated(other, 5))]);
  near(rotated([1, 0], 1), [Math.cos(1), Math.sin(1)]);
});

test("an RMS norm divides by the root of the mean square, and may learn nothing", () => {
  const { even, variance } = normOf([3, 1, -1, -1], 0, null, null, true);
  near([variance, ...even], [3, ...[3, 1, -1, -1].map((value) => value / Math.sqrt(3))]);
  const c = way({ facts: { ...FACTS, model: { norm_gain: false, norm_bias: false } }, parameter: (name) => /gamma|beta/.test(name) ? null : parameter(name) });
  near(c.norm().scaled, c.norm().even);
});

test("a norm may come first, or not at all", () => {
  const of = (norm) => way({ facts: { ...FACTS, model: { norm } } });
  const [pre, none] = [of("pre"), of("none")];
  // The input [22, 23] is [-1, 1] once normalised, then [-1, 3].
  assert.ok(difference(pre.projected("query"), [-1 * 2 + 3 * 4 + 0.2]) < 1e-4);
  assert.equal(pre.norm(), null);
  assert.deepEqual([pre.feedForward().input, none.feedForward().input], [[16, 17], [16, 17]]);
  assert.ok(difference(pre.feedForward().hidden, [0, 1, 1]) < 1e-4, String(pre.feedForward().hidden));
  assert.deepEqual(none.feedForward().hidden, [16, 0, 17]);
  // Hidden numbers 39 to 41 of the engine give [80, 81], which is added to the residual.
  assert.deepEqual(none.feedForward().block, [16 + 80, 17 + 81]);
  const titles = stagesOf(pre, NAMES, 1).map(({ title }) => title);
  assert.deepEqual(titles.slice(0, 3), ["Inputs", "Norm", "Queries, keys, values"]);
  assert.ok(!stagesOf(none, NAMES, 1).some(({ title }) => title === "Norm"));
});

test("weights may be mixed, or the scores themselves", () => {
  const of = (attention) => way({ facts: { ...FACTS, model: { attention } } });
  near(of({ rate: 0.5 }).mixed(), [0.625, 0.875]);
  near(of({ softmax: false }).mixed(), [0, Math.log(3)]);
  near([of({ log_length: true }).scaleOf()], [Math.log(2)]);
  const { formula, sentence } = stagesOf(of({ rate: 0.5 }), NAMES, 1).find(({ title }) => title === "Softmax");
  assert.match(formula, /^weight = 0\.5 × exp/);
  assert.ok(!sentence.includes("%"), sentence);
});

test("without [CLS] the classifier reads another position, or the mean", () => {
  const facts = { ...FACTS, cls: null, read: 1 };
  assert.match(stagesOf(way({ facts, query: 0 }), NAMES, 1).at(-1).sentence, /^The classifier reads the last position alone\./);
  const mean = way({ facts: { ...facts, model: { pooling: "mean" } } }).classified();
  // The outputs [24, 25] and [26, 27].
  assert.deepEqual([mean.output, mean.logits], [[25, 26], [25 * 2 - 26 + 0.5]]);
  const padded = way({ facts: { ...facts, model: { pooling: "mean", attention: { padding_token: 2 } } } }).classified();
  assert.deepEqual(padded.output, [24, 25]);
});

test("a search finds whole tokens that follow each other", () => {
  const sample = { number: 10, tokens: [0, 16, 5, 42, 43] };
  const found = (text, names = ["[CLS]", "16", "5", "42", "43"]) => matches(sample, names, wordsOf(text));
  assert.ok(found("") && found("  ") && found("42") && found("16 5 42") && found(" 16,  5 ;42 ") && found("10") && found("[CLS] 16"));
  assert.ok(!found("4") && !found("6 5") && !found("16 42") && !found("42 5") && !found("10 16"));
  const words = ["[CLS]", "New York", "is", "GREAT", ","];
  assert.ok(found("new york IS", words) && found("york", words) && found("5 42", words) && found(",", words) && !found("gre", words));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { attend, attending, lookers, tokensOf } from "../src/walkthrough/attend.js";
import { caseStages } from "../src/walkthrough/stages.js";

const matrix = (stage, rows, columns, values, how = "given") => ({ stage, how, rows, columns, values });
const TOKENS = ["a", "b"];
/** Two tokens with embeddings, masked: the product of each with itself is 1. */
const example = (parts = {}) => ({
  title: null, about: null, factor: 0.5, temperature: 1,
  stages: [
    matrix("x", TOKENS, ["0", "1"], [[1, 0], [0, 1]]), matrix("scores", TOKENS, TOKENS, [[1, 0], [0, 1]], "x · xᵀ"), matrix("scaled", TOKENS, TOKENS, [[0.5, 0], [0, 0.5]], "scores × 0.5"),
    matrix("masked", TOKENS, TOKENS, [[0.5, null], [0, 0.5]]), matrix("weights", TOKENS, TOKENS, [[1, 0], [0.378, 0.622]]), matrix("output", TOKENS, ["0", "1"], [[1, 0], [0.378, 0.622]], "weights · x"),
  ],
  published: [{ stage: "weights", row: 1, columns: [0, 1], values: [0.4, 0.62], differs: [true, false], decimals: 2, note: "a slip" }],
  ...parts,
});
const near = (one, other) => one.forEach((value, at) => assert.ok(Math.abs(value - other[at]) < 1e-9, `${one}`));

test("an example has a step for each stage that it has, with what the document prints", () => {
  const stages = caseStages(example(), 1);
  assert.deepEqual(stages.map(({ title }) => title), ["Inputs", "Products", "Scores", "Mask", "Softmax", "Weighted sum"]);
  const softmax = stages[4];
  assert.deepEqual(softmax.grids[0].marks, [["", ""], ["≠0.40", "=0.62"]]);
  assert.equal(softmax.sentence, "exp(score − the largest score) is 1 for “b”; divided by the sum of its row, 1.607, it is 0.622: “b” gives it 62% of its attention. “b”: a slip.");
  assert.equal(stages[2].sentence, "The score of “b” for “b” is 1.000 × 0.500 = 0.500; none of its row is larger.");
  assert.equal(caseStages(example(), 0)[3].sentence, "“a” may not look at “b”: a score of −∞ becomes a weight of 0.");
});

test("tokens attend with the vectors of the example", () => {
  const own = attending(example());
  assert.ok(own.isCausal && !own.isCross && !own.hasOtherMask);
  assert.ok(attending(example({ stages: example().stages.map((one) => one.stage === "masked" ? { ...one, values: [[null, 0], [0, null]] } : one) })).hasOtherMask);
  const e = Math.exp(0.5);
  near(attend(own, ["b", "a", "b"], 0, 1, false).weights, [e, 1, e].map((value) => value / (2 * e + 1)));
  near(attend(own, ["b", "a", "b"], 1, 1, true).weights, [1 / (1 + e), e / (1 + e), 0]);
  near(attend(own, ["a", "b"], 0, 0.5, false).output, [Math.exp(1) / (1 + Math.exp(1)), 1 / (1 + Math.exp(1))]);
});

test("projections turn embeddings into queries, keys and values", () => {
  const { stages } = example();
  const own = attending(example({ stages: [...stages, matrix("w_query", ["0", "1"], ["0", "1"], [[0, 2], [2, 0]]), matrix("w_value", ["0", "1"], ["0"], [[3], [5]])] }));
  assert.deepEqual([own.scoreOf("a", "a"), own.scoreOf("a", "b"), own.valueOf("b")], [0, 2, [5]]);
});

test("scores alone are enough, weights alone are not; keys may have no query", () => {
  const scores = attending(example({ stages: [matrix("scores", ["b"], TOKENS, [[3, 4]]), matrix("weights", ["b"], TOKENS, [[0.3, 0.7]])] }));
  assert.equal(attend(scores, ["a", "b"], 0, 1, false), null);
  assert.equal(attend(scores, ["a", "b"], 1, 1, false).output, null);
  assert.equal(attending(example({ stages: [matrix("weights", TOKENS, TOKENS, [[1, 0], [0, 1]])] })), null);
});

test("where queries and keys are of different tokens, the reader types the keys", () => {
  const { stages } = example();
  const own = attending(example({ stages: [...stages.filter(({ stage }) => stage !== "masked"), matrix("memory", ["u", "v", "w"], ["0", "1"], [[1, 1], [0, 0], [2, 0]])] }));
  assert.ok(own.isCross);
  const e = Math.exp(1);
  near(attend(own, ["w", "v", "w"], 0, 0.5, true).weights, [e * e, 1, e * e].map((value) => value / (2 * e * e + 1)));
  assert.deepEqual([lookers(own, ["w"]), tokensOf(own, "w u")], [["a", "b"], ["w", "u"]]);
});

test("what a reader types names tokens of the example", () => {
  const own = attending(example());
  assert.deepEqual(tokensOf(own, " A, b  a"), ["a", "b", "a"]);
  assert.throws(() => tokensOf(own, "a dog"), /“dog” is not a token of this example, which has vectors for “a”, “b” alone\./);
  assert.throws(() => tokensOf(own, " "), /at least one/);
  assert.throws(() => tokensOf(own, "a ".repeat(25)), /25 tokens/);
  assert.deepEqual(tokensOf({ ...own, keys: ["New York", "is"] }, "is, new york"), ["is", "New York"]);
});

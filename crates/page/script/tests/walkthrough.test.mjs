import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";
const [{ caseStages }] = await load("walk/example-stages");

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

test("an example has a step for each stage that it has, with what the document prints", () => {
  const stages = caseStages(example(), 1);
  assert.deepEqual(stages.map(({ title }) => title), ["Inputs", "Products", "Scores", "Mask", "Softmax", "Weighted sum"]);
  const softmax = stages[4];
  assert.deepEqual(softmax.grids[0].marks, [["", ""], ["≠0.40", "=0.62"]]);
  assert.equal(softmax.sentence, "exp(score − the largest score) is 1 for “b”; divided by the sum of its row, 1.607, it is 0.622: “b” gives it 62% of its attention. “b”: a slip.");
  assert.equal(stages[2].sentence, "The score of “b” for “b” is 1.000 × 0.500 = 0.500; none of its row is larger.");
  assert.equal(caseStages(example(), 0)[3].sentence, "“a” may not look at “b”: a score of −∞ becomes a weight of 0.");
});

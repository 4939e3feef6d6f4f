// The numbers that the page decodes are those of the dumps, to four decimals; vectors are the same float32 numbers.

import assert from "node:assert/strict";
import test from "node:test";
import { difference, fixture, load } from "./page.mjs";

const page = await load();
const [P, LAYERS, HEADS, SAMPLES] = page("[P, facts.layers, facts.heads, facts.samples.length]");

// All rows of a dump in the order of its arrays: [sample, layer, head, query, key].
function rowsOf(run, step, name) {
  const rowOf = page(`(...where) => within(${run}, () => ${name}(...where))`);
  const rows = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    for (let layer = 0; layer < LAYERS; layer++) {
      for (let head = 0; head < HEADS; head++) {
        for (let query = 0; query < P; query++) rows.push(...rowOf(step, sample, layer, head, query));
      }
    }
  }
  return rows;
}

fixture.runs.forEach((steps, run) => {
  test(`run ${run}: scores, weights, logits and probabilities of each step`, () => {
    assert.equal(page(`runs[${run}].facts.steps.length`), steps.length);
    steps.forEach((dump, step) => {
      assert.ok(difference(rowsOf(run, step, "scoreRow"), dump.scores) < 1e-9, `scores, step ${step}`);
      assert.ok(difference(rowsOf(run, step, "weightRow"), dump.weights) < 1e-9, `weights, step ${step}`);
      for (const [name, values] of [["logits", dump.logits], ["probability", dump.probabilities]]) {
        const shown = page(`within(${run}, () => facts.samples.map((_, sample) => ${name}(sample, ${step})))`);
        assert.ok(difference(Array.from(shown), values) < 1e-9, `${name}, step ${step}`);
      }
    });
  });

  test(`run ${run}: the mask`, () => {
    const shown = page(`runs[${run}].source.mask && Array.from(runs[${run}].source.mask, Boolean)`);
    assert.deepEqual(shown && Array.from(shown), steps[0].mask);
  });

  test(`run ${run}: the vectors of the steps that have them`, () => {
    const kept = Array.from(page(`runs[${run}].facts.vectors`));
    assert.deepEqual(kept, steps.length > 8 ? [0, steps.length - 1] : [...steps.keys()]);
    for (const step of kept) {
      for (const name of ["query", "key", "value", "context", "embeddings", "residual"]) {
        const shown = Array.from(page(`runs[${run}].source.vectors(${step}).${name}`));
        assert.deepEqual(shown, steps[step][name].map(Math.fround), `${name}, step ${step}`);
      }
    }
  });
});

test("each letter of base 85 is its digit", () => {
  assert.deepEqual(Array.from(page('bytesOf("(((()((((~")')), [0, 0, 0, 1, 0, 0, 0, 20]);
});

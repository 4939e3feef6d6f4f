// The numbers that the page decodes are those of the dumps, to four decimals; vectors are the same float32 numbers.

import assert from "node:assert/strict";
import test from "node:test";
import { difference, load, openFixture } from "./page.mjs";

const fixture = openFixture();
const [state, { unpack }, { range }] = await load("state.js", "own-numbers.js", "numbers.js");
await unpack();
const runs = state.runs.value;

// All rows of a dump in the order of its arrays: [sample, layer, head, query, key].
function rowsOf({ samples, facts, source }, at, name) {
  const rows = [];
  for (const sample of samples) {
    for (const layer of range(facts.layers)) {
      for (const head of range(facts.heads)) {
        for (const query of range(facts.positions)) rows.push(...source.row(name, at, sample, layer, head, query));
      }
    }
  }
  return rows;
}

test("all runs of the page", () => assert.equal(runs.length, fixture.runs.length));

fixture.runs.forEach((steps, index) => {
  const run = runs[index];

  test(`run ${index}: scores, weights, logits and probabilities of each step`, () => {
    assert.equal(run.times.length, steps.length);
    steps.forEach((dump, at) => {
      for (const name of ["scores", "weights"]) assert.ok(difference(rowsOf(run, at, name), dump[name]) < 1e-9, `${name}, step ${at}`);
      for (const name of ["logits", "probabilities"]) {
        const shown = run.samples.flatMap((sample) => run.source.results(name, at, sample));
        assert.ok(difference(shown, dump[name]) < 1e-9, `${name}, step ${at}`);
      }
    });
  });

  test(`run ${index}: the mask`, () => {
    const { positions } = run.facts;
    const shown = run.samples.flatMap((sample) => range(positions ** 2).map((cell) => run.allows(sample, Math.floor(cell / positions), cell % positions)));
    assert.deepEqual(shown, steps[0].mask ?? shown.map(() => true));
  });

  test(`run ${index}: vectors`, () => {
    for (const at of run.facts.vectors) {
      for (const name of ["query", "key", "value", "context", "embeddings", "residual"]) {
        const shown = run.samples.flatMap((sample) => Array.from(run.source.arrays(at, sample)[name]));
        assert.deepEqual(shown, steps[at][name].map(Math.fround), `${name}, step ${at}`);
      }
    }
    const without = range(steps.length).find((at) => !run.facts.vectors.includes(at));
    if (without !== undefined) assert.equal(run.source.arrays(without, run.samples[0]), null);
  });
});

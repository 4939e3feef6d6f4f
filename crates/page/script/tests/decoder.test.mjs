// The numbers that the page decodes are those of the dumps, to four decimals; vectors are the same float32 numbers.

import assert from "node:assert/strict";
import test from "node:test";
import { difference, load, openFixture } from "./page.mjs";

const fixture = openFixture();
const [state, { unpack }, { range }] = await load("state/state", "state/recording", "model/numbers");
await unpack();
const runs = state.runs.value;

// All rows of a dump in the order of its arrays: [sample, layer, head, query, key].
const rowsOf = ({ samples, facts, source }, at, name) => samples.flatMap((sample) =>
  range(facts.layers).flatMap((layer) => range(facts.heads).flatMap((head) => range(facts.positions).flatMap((query) => [...source.row(name, at, sample, layer, head, query)]))));

test("all runs of the page", () => assert.equal(runs.length, fixture.runs.length));

fixture.runs.forEach((steps, index) => {
  test(`run ${index}: scores, weights, logits and probabilities of each step, the mask, and vectors`, () => {
    const run = runs[index];
    const { positions, vectors } = run.facts;
    assert.equal(run.times.length, steps.length);
    steps.forEach((dump, at) => {
      for (const name of ["scores", "weights"]) assert.ok(difference(rowsOf(run, at, name), dump[name]) < 1e-9, `${name}, step ${at}`);
      for (const name of ["logits", "probabilities"]) {
        const shown = run.samples.flatMap((sample) => run.source.results(name, at, sample));
        assert.ok(difference(shown, dump[name]) < 1e-9, `${name}, step ${at}`);
      }
      if (!vectors.includes(at)) return assert.equal(run.source.arrays(at, run.samples[0]), null);
      for (const name of ["query", "key", "value", "context", "embeddings", "residual"]) {
        const shown = run.samples.flatMap((sample) => Array.from(run.source.arrays(at, sample)[name]));
        assert.deepEqual(shown, dump[name].map(Math.fround), `${name}, step ${at}`);
      }
    });
    const mask = run.samples.flatMap((sample) => range(positions ** 2).map((cell) => run.allows(sample, Math.floor(cell / positions), cell % positions)));
    assert.deepEqual(mask, steps[0].mask ?? mask.map(() => true));
  });
});

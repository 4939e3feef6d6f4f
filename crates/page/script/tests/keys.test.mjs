// What follows from the keys that a query may look at: multiples of uniform attention, and the head that is shown first. The
// numbers are those of crates/architecture/tests/keys.rs.

import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./page.mjs";
import { runOf } from "./runs.mjs";

const [{ panelOf, shades }] = await load("draw/matrices");

/** A run of samples whose queries all have the same row: `rows[head]` of the sample. The first block is sharp, and so is the first step. */
function rowsOf(samples, allows = () => true, more = {}) {
  const positions = samples[0].rows[0].length;
  const tokens = Array.from({ length: positions }, (_, at) => at);
  const facts = { layers: 2, heads: samples[0].rows.length, positions, steps: [0, 7], samples: samples.map(({ label = null, marked = [] }, number) => ({ number, label, marked, tokens })), ...more };
  return runOf(facts, {
    allows: (sample, query, key) => allows(sample.number, query, key),
    row: (name, at, sample, layer, head) => at && layer ? Float64Array.from(samples[sample.number].rows[head]) : new Float64Array(positions).with(2, 1),
  });
}

const even = [0.25, 0.25, 0.5];
const atOne = [0.25, 0.5, 0.25];
const sharp = [1, 0, 0];

test("the strongest head of the last block is the core's", () => {
  const strongest = (samples, more) => rowsOf(samples, undefined, more).strongest;
  const why = (head, label) => rowsOf([{ rows: [even, atOne, sharp].slice(0, head), label, marked: [1] }]).whyStrongest;
  assert.match(why(3, 1), /what decides/);
  assert.match(why(3, 0), /uniform/);
  assert.equal(why(1, 1), "");
  assert.match(rowsOf([{ rows: [even, sharp] }], undefined, { model: { attention: { softmax: false } } }).whyStrongest, /largest weights/);
  assert.equal(strongest([{ rows: [even, atOne, even], label: 1, marked: [1] }, { rows: [even, even, even], label: 2, marked: [1] }, { rows: [atOne, sharp, sharp], label: 0, marked: [1] }]), 1);
  assert.equal(strongest([{ rows: [sharp, atOne, atOne], label: 1, marked: [1] }]), 1);
  assert.equal(strongest([{ rows: [even, atOne, sharp], label: 1 }]), 2);
  assert.equal(strongest([{ rows: [even, sharp], label: 0, marked: [1] }]), 1);
  // A recording has more samples than the page.
  assert.equal(strongest([{ rows: [even, sharp], label: 0, marked: [1] }], { strongest: 0 }), 0);
});

test("a head is uniform over the keys of each query", () => {
  const third = 1 / 3;
  const run = rowsOf([{ rows: [[third, third, third, 0, 0, 0], [0.5, 0.5, 0, 0, 0, 0]], label: 1 }], (_, query, key) => key < 3);
  assert.deepEqual([[1, 0], [1, 1], [0, 0]].map(([layer, head]) => run.isUniform("0", 1, layer, head)), [true, false, false]);
  // Each query sees one key.
  assert.equal(rowsOf([{ rows: [[1, 0, 0]] }], (_, query, key) => key === 0).isUniform("0", 1, 1, 0), false);
});

test("the same multiple of uniform attention has the same colour in each row", () => {
  // Seven keys of twelve in one sample; causal in the other.
  const rows = [[1 / 7, 2 / 7, ...new Array(10).fill(0)]];
  const run = rowsOf([{ rows, label: 1 }, { rows, label: 0 }], (number, query, key) => number ? key <= query : key < 7);
  const panel = (sample) => panelOf("now", { run, base: run, sample, at: 1, layer: 1, head: 0, show: "weights", settings: {}, changes: {}, changesText: "" });
  const log = { from: 1 / 12, to: 12, log: true, diverging: false, name: "" };
  const near = (one, other) => assert.ok(Math.abs(one - other) < 1e-12, `${one} ${other}`);
  near(shades(panel("0"), log)[0], 1);
  near(shades(panel("0"), log)[1], 2);
  // Query 2 of a causal model has three keys.
  near(shades(panel("1"), log)[2 * 12], 3 / 7);
  const linear = panel("0");
  assert.equal(shades(linear, { from: 0, to: 1, diverging: false, name: "" }), linear.cells);
});

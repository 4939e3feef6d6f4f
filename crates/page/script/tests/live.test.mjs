// The numbers of a training that the page made, with an engine that only counts what it is asked.

import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./page.mjs";
import { factsOf } from "./runs.mjs";

const [{ runWith, interventionsFor, interventionsText }, { Run }, { Live }] = await load("sources/interventions", "model/run", "sources/live");

const samples = [[0, 7, 8], [0, 9, 7]].map((tokens, number) => ({ number, label: number, tokens, marked: number ? [1] : [] }));
const facts = factsOf({ heads: 2, samples, steps: [0, 1, 2] });

/** A run of three kept steps, each of two weights and of all numbers of the samples, which count up. @param {Record<string, unknown>} [attention] */
function trained(attention = {}, refuses = () => false) {
  const asked = { looks: 0, watched: [] };
  const row = [["weights", 2], ["probabilities", 2], ["logits", 2], ["attention_scores", 36], ["attention_weights", 36]];
  const floats = Float32Array.from({ length: 3 * 78 }, (_, at) => at);
  const lab = {
    ask({ interventions }) {
      if (refuses(interventions)) throw new Error("no model has this");
      asked.looks++;
      return { arrays: [], floats: new Float32Array(), mask: [1, 1, 0, 1, 1, 1, 1, 1, 1], judged: [[[1, [2]]]] };
    },
  };
  const worker = {
    async send({ task: { head } }) {
      if (asked.watched.push(head.tokens) > 1) throw new Error("the worker was stopped");
      const many = head.tokens.length;
      const size = many * 38;
      return { row: [["probabilities", many], ["logits", many], ["attention_scores", 18 * many], ["attention_weights", 18 * many]], floats: Float32Array.from({ length: 3 * size }, (_, at) => at) };
    },
  };
  const config = { data: { seq_len: 2 }, model: { n_heads: 2, n_layers: 1, d_model: 4, attention } };
  const source = new Live({ config, row, parameters: [["classifier.bias", [2]]], steps: [0, 1, 2].map((at) => ({ floats, start: 78 * at })), lab, worker }, 2);
  return { run: new Run(facts, source), asked };
}

const settled = () => new Promise((done) => setTimeout(done));

test("kept rows are read where they lie", () => {
  const { run } = trained();
  const [, second] = run.samples;
  assert.deepEqual(run.source.results("logits", 1, second), [78 + 2 + 2 + 1]);
  assert.deepEqual([...run.source.row("weights", 2, second, 0, 1, 2)], [0, 1, 2].map((key) => 156 + 42 + 18 + 9 + 6 + key));
  assert.deepEqual([...run.source.parameter("classifier.bias", 1).values], [78, 79]);
});

test("the mask is asked for once, or once for each sample if padding is masked", () => {
  for (const [attention, looks] of [[{}, 1], [{ padding_token: 9 }, 2]]) {
    const { run, asked } = trained(attention);
    for (const sample of run.samples) assert.deepEqual([run.allows(sample, 0, 1), run.allows(sample, 0, 2)], [true, false]);
    assert.equal(asked.looks, looks);
  }
});

test("with a change, all samples of a class are computed together, and once", async () => {
  const { run, asked } = trained();
  const changed = runWith(run, { heads: [[0, 1]] });
  assert.equal(changed.curve("positives", 0, 0), null);
  assert.equal(changed.curve("negatives", 0, 0), null);
  await settled();
  assert.deepEqual(asked.watched, [[[0, 9, 7], [0, 7, 8]]]);
  assert.equal(changed.source.arrived.value, 1);
  // The first of the two samples that were computed, at step 1: its row of [CLS] begins after 2 probabilities, 2 logits and 36 scores.
  assert.deepEqual(changed.curve("positives", 0, 0)[1], [1, 76 + 40 + 1]);
  const lost = runWith(run, { heads: [[0, 0]] });
  assert.equal(lost.curve("positives", 0, 0), null);
  await settled();
  assert.deepEqual([lost.source.arrived.value, lost.curve("positives", 0, 0)], [1, []], "what cannot be computed is not awaited");
});

test("changes that a run cannot have are left out", () => {
  const { run } = trained();
  const wanted = { temperature: 2, heads: [[0, 1], [9, 0]], keys: [2, 3], rows: [{ layer: 0, head: 0, query: 0, weights: [1, 0] }], patches: [{ place: "output", layer: 0, position: 0, from: "nobody" }] };
  assert.deepEqual(interventionsFor(run, wanted), { temperature: 2, heads: [[0, 1]], keys: [2] });
  assert.equal(interventionsText(interventionsFor(run, wanted)), "temperature × 2.00, without head 1 of layer 0, without position 2");
  assert.equal(runWith(run, { keys: [3] }), run);
  assert.equal(runWith(run, wanted), runWith(run, structuredClone(wanted)));
});

test("what the engine refuses is no change", () => {
  const { run } = trained({}, (interventions) => interventions.length > 0);
  assert.deepEqual(interventionsFor(run, { keys: [1] }), {});
  assert.equal(runWith(run, { keys: [1] }), run);
});

test("a run opens on its best model, and names it", () => {
  const { run } = trained();
  assert.deepEqual([run.opening, run.stepText(1)], [2, "step 1"]);
  const best = new Run({ ...facts, best: 1 }, run.source);
  assert.equal(best.opening, 1);
  assert.deepEqual([0, 1, 2].map((at) => best.stepText(at)), ["step 0 of 2", "best model, step 1 of 2", "step 2 of 2"]);
});

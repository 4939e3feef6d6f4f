// Models that answer at each position: the run follows the position that is asked.

import assert from "node:assert/strict";
import { test } from "node:test";
import { load, openFixture } from "./page.mjs";

openFixture();
const [{ Run }, { sentenceOf }, { captionsOf }] = await load("run.js", "parts/sentence.js", "parts/captions.js");

const PADDING = 9;
/** Answers of two positions and one that has no label; the logits of each are highest at the class of `ANSWERS`. */
const ANSWERS = [1, 2, 0];
const each = [[1, [0, 1]], [0, [1]], [null, []]];

/** @param {Record<string, unknown>} [more] */
function runOf(more = {}) {
  const samples = [{ number: 0, label: 1, tokens: [3, 4, PADDING], marked: [], each }];
  const facts = {
    name: "test", seed: 0, layers: 1, heads: 1, positions: 3, logits: 3, task: "token-classification", classes: [], steps: [0], loss: [], token_strings: {}, cls: null, read: 0,
    samples, model: { attention: { padding_token: PADDING } }, config: { data: { vocab_size: 9 }, model: { attention: { padding_token: PADDING } } }, ...more,
  };
  const source = {
    kind: "live", covers: () => true, arrays: () => null, allows: () => true, row: () => Float64Array.of(0.8, 0.1, 0.1),
    results: (name, at, { asked }) => [0, 1, 2].map((label) => label === ANSWERS[asked] ? 1 : 0), judge: () => each,
  };
  return new Run(facts, source);
}

test("a sample has the label, the marks and the answer of the position that is asked", () => {
  const run = runOf();
  const of = (asked) => {
    const sample = run.asking(asked).sample("0");
    return [run.asking(asked).reader, sample.label, sample.marked, run.predicted(sample, 0), run.outcome(sample, 0)];
  };
  assert.deepEqual(of(NaN), [0, 1, [0, 1], 1, "right"]);
  assert.deepEqual(of(1), [1, 0, [1], 2, "wrong"]);
  assert.deepEqual(of(2), [2, null, [], 0, ""]);
  assert.equal(run.asking(1), run.asking(1));
  assert.deepEqual(run.tally(run.samples[0], 0), [1, 2]);
});

test("groups are of the samples with a label at the position", () => {
  const run = runOf();
  assert.equal(run.members("class 1").length, 1);
  assert.equal(run.asking(1).members("class 1").length, 0);
  assert.match(run.asking(1).sampleName("class 0"), /at position 1$/);
});

test("padding is not asked, and the last token before it is", () => {
  const run = runOf({ read: 2, task: "next-token" });
  assert.deepEqual([run.samples[0].asked, run.length("0")], [1, 2]);
});

test("own samples have a label per position, and sentences say whose", () => {
  const run = runOf();
  const own = run.own([5, 6]);
  assert.deepEqual([own.tokens, own.each, own.label], [[5, 6, PADDING], each, 1]);
  const said = (query) => sentenceOf({ run: run.asking(query), sample: "0", at: 0, query, layer: 0, head: 0 }, Float64Array.of(0.8, 0.1, 0.1));
  assert.match(said(0), /^At step 0, position 0 gives 10% of its attention to position 1 \(token 4\), which decides the label together with it\./);
  assert.match(said(1), /It alone decides this label\.$/);
  assert.match(said(2), /^At step 0, the last position .* No label counts there\.$/);
});

test("classes of the next token are tokens", () => {
  const run = runOf({ task: "next-token", token_strings: { 1: "a" } });
  assert.deepEqual([0, 1, 2].map((label) => run.className(label)), ["0", "a", "2"]);
  assert.deepEqual([runOf().shortClass(2), runOf().className(2)], ["2", "class 2"]);
});

test("the guide counts positions", () => {
  const captions = captionsOf(runOf({ steps: [0, 1] }));
  assert.match(captions.at(-1).text, /^1 of the 2 positions in the samples of this page are right\./);
  assert.match(captions[0].text, /It answers at each position/);
});

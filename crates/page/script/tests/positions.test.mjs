// Where a class is read: without [CLS], at another position than its, and at each position.

import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./page.mjs";
import { runOf } from "./runs.mjs";

const [{ captionsOf }, { limitsOf }, { sentenceOf }, { tokensOf }] = await load("first/guide/captions", "first/headline/rules", "model/sentence", "model/tokens");

const WEIGHTS = Float64Array.of(0.8, 0.1, 0.1);
const said = (run, query) => sentenceOf({ run, sample: "0", at: 0, query, layer: 0, head: 0 }, WEIGHTS);

/** A run of one sample, whose queries all look at position 0. */
const readOf = (more, tokens = [0, 7, 8]) => runOf(
  { samples: [{ number: 0, label: 1, tokens, marked: [0] }], config: { data: { vocab_size: 9, rule: {} }, model: {} }, ...more },
  { kind: "live", row: () => WEIGHTS, judge: (own) => [[own[0] === 0 ? 1 : 0, []]] },
);

test("without [CLS], token 0 is a token, and all positions are those of tokens", () => {
  const run = readOf({ cls: null, read: 2 });
  assert.deepEqual([run.cls, run.readout, run.readoutName, run.tokenText(run.samples[0], 0)], [-1, 2, "the last position", "0"]);
  assert.deepEqual([run.withoutCls([1, 2, 3]), tokensOf(run, "0 5, 8").tokens, run.own([0, 5, 8]).tokens], [[1, 2, 3], [0, 5, 8], [0, 5, 8]]);
  assert.throws(() => run.own([5, 8]), /Type 3 tokens/);
  assert.throws(() => run.own([0, 5, 9]), /from 0 to 8/);
  assert.match(said(run, 2), /^At step 0, the last position gives 80% of its attention to position 0 \(token 0\)/);
});

test("[CLS] stays what it is where the class is read from another position", () => {
  const run = readOf({ cls: 0, read: 1 });
  assert.deepEqual([run.cls, run.readout, run.readoutName, run.tokenText(run.samples[0], 0)], [0, 1, "position 1", "[CLS]"]);
  assert.deepEqual(run.own([5, 8]).tokens, [0, 5, 8]);
  assert.throws(() => tokensOf(run, "0 5"), /\[CLS\]/);
  assert.equal(readOf({}).readoutName, "[CLS]");
  assert.match(said(readOf({}), 0), /^At step 0, \[CLS\] gives/);
});

test("numbers of a rule fit the place of [CLS]", () => {
  const limits = (cls) => ["token", "position"].map((counts) => limitsOf({ data: { vocab_size: 9, seq_len: 4, cls } }, counts));
  for (const [cls, expected] of [["first", [[1, 8], [1, 4]]], [undefined, [[1, 8], [1, 4]]], ["last", [[1, 8], [0, 3]]], ["none", [[0, 8], [0, 3]]]]) assert.deepEqual(limits(cls), expected);
});

const PADDING = 9;
/** Answers of two positions and one that has no label; the logits of each are highest at the class of `ANSWERS`. */
const ANSWERS = [1, 2, 0];
const each = [[1, [0, 1]], [0, [1]], [null, []]];

/** A run that answers at each position. */
function eachOf(more = {}) {
  const attention = { padding_token: PADDING };
  const samples = [{ number: 0, label: 1, tokens: [3, 4, PADDING], marked: [], each }];
  return runOf(
    { logits: 3, task: "token-classification", cls: null, read: 0, samples, model: { attention }, config: { data: { vocab_size: 9 }, model: { attention } }, ...more },
    { kind: "live", row: () => WEIGHTS, results: (name, at, { asked }) => [0, 1, 2].map((label) => label === ANSWERS[asked] ? 1 : 0), judge: () => each },
  );
}

test("a sample has the label, the marks and the answer of the position that is asked", () => {
  const run = eachOf();
  const of = (asked) => {
    const sample = run.asking(asked).sample("0");
    return [run.asking(asked).readout, sample.label, sample.marked, run.predicted(sample, 0), run.outcome(sample, 0)];
  };
  assert.deepEqual([NaN, 1, 2].map(of), [[0, 1, [0, 1], 1, "right"], [1, 0, [1], 2, "wrong"], [2, null, [], 0, ""]]);
  assert.equal(run.asking(1), run.asking(1));
  assert.deepEqual(run.tally(run.samples[0], 0), [1, 2]);
  // Groups are of the samples with a label at the position.
  assert.deepEqual([run.members("class 1").length, run.asking(1).members("class 1").length], [1, 0]);
  assert.match(run.asking(1).sampleName("class 0"), /at position 1$/);
});

test("padding is not asked, and the last token before it is", () => {
  const run = eachOf({ read: 2, task: "next-token" });
  assert.deepEqual([run.samples[0].asked, run.length("0")], [1, 2]);
});

test("own samples have a label per position, and sentences say whose", () => {
  const run = eachOf();
  const own = run.own([5, 6]);
  assert.deepEqual([own.tokens, own.each, own.label], [[5, 6, PADDING], each, 1]);
  // A token of 9 or more is none, and 9 may fill a sample up alone.
  assert.deepEqual(eachOf({ config: { data: { vocab_size: 10 } } }).own([5, PADDING]).tokens, [5, PADDING, PADDING]);
  for (const [tokens, why] of [[[5, PADDING, 6], /9 is padding/], [[PADDING, PADDING], /9 is padding/], [[5, 10], /from 0 to 8$/], [[1, 2, 3, 4], /Type 1 to 3 tokens; you typed 4/], [[], /1 to 3/]])
    assert.throws(() => eachOf({ config: { data: { vocab_size: 10 } } }).own(tokens), why);
  assert.match(said(run.asking(0), 0), /^At step 0, position 0 gives 10% of its attention to position 1 \(token 4\), which decides the label by the rule, together with it\./);
  assert.match(said(run.asking(1), 1), /It alone decides this label by the rule\.$/);
  assert.match(said(run.asking(2), 2), /^At step 0, the last position .* No label counts there\.$/);
});

test("classes of the next token are tokens, and the guide counts positions", () => {
  const run = eachOf({ task: "next-token", token_strings: { 1: "a" } });
  assert.deepEqual([0, 1, 2].map((label) => run.className(label)), ["0", "a", "2"]);
  assert.deepEqual([eachOf().shortClass(2), eachOf().className(2)], ["2", "class 2"]);
  const captions = captionsOf(eachOf({ steps: [0, 1] }));
  assert.match(captions.at(-1).text, /^1 of the 2 positions in the samples of this page are right\./);
  assert.match(captions[0].text, /It answers at each position/);
});

// Samples without [CLS], and classes that are read from another position than that of [CLS].

import assert from "node:assert/strict";
import test from "node:test";
import { Run } from "../src/run.js";
import { limitsOf } from "../src/parts/rules.js";
import { sentenceOf } from "../src/parts/sentence.js";
import { tokensOf } from "../src/parts/tokens.js";

/** A run of one sample, whose queries all look at position 0. @param {Record<string, unknown>} more */
function runOf(more, tokens = [0, 7, 8]) {
  const facts = {
    name: "test", seed: 0, layers: 1, heads: 1, positions: 3, logits: 1, classes: [], steps: [0], loss: [], token_strings: {}, cls: 0,
    samples: [{ number: 0, label: 1, tokens, marked: [0] }], config: { data: { vocab_size: 9, rule: {} }, model: {} }, ...more,
  };
  const source = {
    kind: "live", covers: () => true, arrays: () => null, results: () => [1], allows: () => true,
    row: () => Float64Array.of(0.8, 0.1, 0.1), judge: (own) => [[own[0] === 0 ? 1 : 0, []]],
  };
  return new Run(facts, source);
}

const said = (run, query) => sentenceOf({ run, sample: "0", at: 0, query, layer: 0, head: 0 }, Float64Array.of(0.8, 0.1, 0.1));

test("without [CLS], token 0 is a token, and all positions are those of tokens", () => {
  const run = runOf({ cls: null, read: 2 });
  assert.deepEqual([run.cls, run.reader, run.readerName], [-1, 2, "the last position"]);
  assert.equal(run.tokenText(run.samples[0], 0), "0");
  assert.deepEqual(run.withoutCls([1, 2, 3]), [1, 2, 3]);
  assert.deepEqual(tokensOf(run, "0 5, 8").tokens, [0, 5, 8]);
  assert.deepEqual(run.own([0, 5, 8]).tokens, [0, 5, 8]);
  assert.throws(() => run.own([5, 8]), /Type 3 tokens/);
  assert.throws(() => run.own([0, 5, 9]), /from 0 to 8/);
  assert.match(said(run, 2), /^At step 0, the last position gives 80% of its attention to position 0 \(token 0\)/);
});

test("[CLS] stays what it is where the class is read from another position", () => {
  const run = runOf({ cls: 0, read: 1 });
  assert.deepEqual([run.cls, run.reader, run.readerName], [0, 1, "position 1"]);
  assert.equal(run.tokenText(run.samples[0], 0), "[CLS]");
  assert.deepEqual(run.own([5, 8]).tokens, [0, 5, 8]);
  assert.throws(() => tokensOf(run, "0 5"), /\[CLS\]/);
  const usual = runOf({});
  assert.deepEqual([usual.cls, usual.reader, usual.readerName], [0, 0, "[CLS]"]);
  assert.match(said(usual, 0), /^At step 0, \[CLS\] gives/);
});

test("numbers of a rule fit the place of [CLS]", () => {
  const limits = (cls) => ["token", "position"].map((counts) => limitsOf({ data: { vocab_size: 9, seq_len: 4, cls } }, counts));
  assert.deepEqual(limits("first"), [[1, 8], [1, 4]]);
  assert.deepEqual(limits(undefined), [[1, 8], [1, 4]]);
  assert.deepEqual(limits("last"), [[1, 8], [0, 3]]);
  assert.deepEqual(limits("none"), [[0, 8], [0, 3]]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";
import { runOf } from "./runs.mjs";

const [{ captionsOf }, { questionOf, withKind, withRule }, { sentenceOf, weightsOf }, { tokenOf, tokensOf }] = await load("first/guide/captions", "first/headline/rules", "model/sentence", "model/tokens");

const config = {
  seed: 0, model: { d_model: 8, n_heads: 1, n_layers: 1 }, training: { epochs: 3, learning_rate: 1e-3 },
  data: { generator: "numpy", vocab_size: 51, seq_len: 6, cls: "first", rule: { kind: "token-at-position", position: 3, token: 42 } },
};

test("the question of each rule", () => {
  assert.equal(questionOf(config.data.rule), "is token 42 at position 3?");
  assert.equal(questionOf({ kind: "equal-positions", first: 2, second: 5 }), "do positions 2 and 5 hold the same token?");
  for (const none of [null, undefined, { kind: "toString" }]) assert.equal(questionOf(none), "");
});

test("a rule as in the page's own config is no setting, whatever the order of its keys", () => {
  const rule = { kind: "token-at-position", token: 42, position: 4 };
  const settings = withRule(config, { seed: 5 }, rule);
  assert.deepEqual(settings, { seed: 5, "data.rule": rule });
  assert.deepEqual(withRule(config, settings, { kind: "token-at-position", token: 42, position: 3 }), { seed: 5 });
});

test("another kind of rule brings what it needs, and its own kind takes that back", () => {
  const count = withKind(config, { seed: 5 }, "count");
  assert.deepEqual(count, { seed: 5, "data.generator": "chacha", "data.vocab_size": 11, "data.n_classes": 3, "training.epochs": 6, "data.rule": { kind: "count", token: 7 } });
  assert.deepEqual(withKind(config, count, "token-at-position"), { seed: 5 });
  assert.equal("data.n_classes" in withKind(config, count, "token-anywhere"), false);
});

test("a rule fits the length, the place of [CLS] and the vocabulary", () => {
  const small = { ...config, data: { ...config.data, seq_len: 3, vocab_size: 6, cls: "last" } };
  assert.deepEqual(withKind(small, {}, "equal-positions")["data.rule"], { kind: "equal-positions", first: 1, second: 2 });
  assert.deepEqual(withKind(small, {}, "token-anywhere")["data.rule"], { kind: "token-anywhere", token: 5 });
});

/** A run in which [CLS] gives `shares[at]` to position 1 in positives, and `others[at]` in negatives. */
const lookingOf = (shares, others = shares, { marked = [1], chance = 0.9, tokens = { 7: "seven" }, config = undefined, heads = 1, source = {} } = {}) => runOf(
  {
    name: "run", steps: shares.map((_, at) => 10 * at), token_strings: tokens, config, heads,
    samples: [{ number: 4, label: 1, tokens: [0, 7, 8], marked }, { number: 5, label: 0, tokens: [0, 9, 8], marked }],
  },
  {
    row: (name, at, sample) => ((share) => Float64Array.of((1 - share) / 2, share, (1 - share) / 2))((sample.label ? shares : others)[at]),
    results: (name, at, sample) => [name === "logits" ? (sample.label ? 1 : -1) * (chance - 0.5) : chance],
    ...source,
  },
);

const sentence = (run, parts = {}) => {
  const place = { run, sample: "4", at: 1, query: 0, layer: 0, head: 0, ...parts };
  return sentenceOf(place, weightsOf(place));
};

test("the sentence names the share, the position, its token and uniform attention", () => {
  const run = lookingOf([0.3, 0.57], [0.3, 0.05]);
  assert.equal(sentence(run), "At step 10, [CLS] gives 57% of its attention to position 1 (token seven), which decides the label by the rule. Uniform attention would give 33%.");
  assert.equal(sentence(run, { sample: "negatives" }), "At step 10, on average over 1 negative, [CLS] gives 5.0% of its attention to position 1 (token 9), which decides the label by the rule. Uniform attention would give 33%.");
  assert.match(sentence(lookingOf([0.3, 0.99], undefined, { marked: [1, 2] })), /gives 99% and 0\.5% of its attention to positions 1 and 2 \(tokens seven and 8\), .* 33% to each\.$/);
});

test("uniform attention leaves out a closed position, a blind query looks at itself alone, and heads may look less than uniformly", () => {
  const closed = (...keys) => lookingOf([0.3, 0.5], undefined, { marked: [1, 2], source: { allows: (sample, query, key) => !keys.includes(key) } });
  assert.deepEqual([/ give 50% and 0%\./.test(sentence(closed(2))), sentence(closed(1, 2))], [true, "The mask lets [CLS] look at no token but itself."]);
  const whys = [0.5, 0.3].map((share) => lookingOf([share], undefined, { heads: 2 }).whyStrongest.includes("though no head looks there more than uniformly"));
  assert.deepEqual([closed(1, 2), closed(2)].map((run) => titles(run).length).concat(whys), [0, 5, false, true]);
});

test("without a position that decides, the sentence says so", () => {
  const looks = "At step 10, [CLS] gives the most attention, 57%, to position 1 (token seven).";
  assert.equal(sentence(lookingOf([0.3, 0.57], undefined, { marked: [] })), `${looks} No rule says which positions decide.`);
  assert.equal(sentence(lookingOf([0.3, 0.57], undefined, { marked: [], config })), `${looks} No position decides this label.`);
});

const titles = (run) => captionsOf(run).map(({ title }) => title);

test("the guide finds the steps at which a run starts to look, turns and settles", () => {
  const run = lookingOf([0.6, 0.4, 0.51, 0.6, 0.75, 0.9], [0.33, 0.4, 0.5, 0.55, 0.6, 0.6]);
  assert.deepEqual([...titles(run), titles(lookingOf([0.33, 0.9], [0.33, 0.4]))[3]], ["Where will it look?", "Before training.", "It turns.", "The surprise.", "Your turn.", "Another class."]);
  assert.deepEqual(captionsOf(run).map(({ parts }) => parts.step), [50, 0, 40, 50, 50]);
  assert.deepEqual(captionsOf(run).map(({ parts }) => parts.sample), ["4", "4", "4", "5", "4"]);
  assert.match(captionsOf(run)[2].text, /^In this sample, from recorded step 20 on, .* 1\.5 times .* step 40 it is 75%, at step 50 90%\.$/);
  assert.match(captionsOf(run)[3].text, /Position 1 \(token 9\) gets 60% /);
  const [{ answerTo }] = captionsOf(run);
  assert.match(answerTo(1), /^Yes: .* 90%, to position 1/);
  assert.match(answerTo(2), /^No: position 2 \(token 8\) gets 5\.0%\. .* 90%, to position 1/);
});

test("it says when a run looks away, never looks, or is wrong", () => {
  assert.equal(titles(lookingOf([0.33, 0.3, 0.1]))[2], "It turns away.");
  assert.match(captionsOf(lookingOf([0.33, 0.34, 0.35]))[2].text, /^Position 1 \(token seven\) gets 35% at step 20; uniform attention would give 33%\. It is right/);
  const wrong = lookingOf([0.33, 0.34, 0.35], undefined, { chance: 0.2 });
  // 0.28, 0.44, 0.28 is 0.0245 nats from uniform attention, and 0.3, 0.4, 0.3 is 0.0097.
  const turns = [[0.33, 0.34, 0.35], [0.33, 0.4], [0.33, 0.44]].map((shares) => titles(lookingOf(shares))[2]);
  assert.deepEqual([titles(wrong)[2], ...turns], Array.from("0001", (far) => (far === "1" ? "At step 10." : "It stays close to uniform.")));
  assert.doesNotMatch(captionsOf(wrong)[2].text, /is right/);
  assert.deepEqual([wrong, lookingOf([0.33, 0.9])].map((run) => captionsOf(run)[0].answerTo === undefined), [true, false]);
  assert.match(captionsOf(wrong)[4].text, /0 of the 2 samples of this page are right/);
});

test("a run without a position that decides has a guide, and a single step has none", () => {
  assert.equal(captionsOf(lookingOf([0.33, 0.5, 0.9], undefined, { marked: [] })).length, 5);
  assert.deepEqual(captionsOf(lookingOf([0.5])), []);
});

test("tokens that a reader types", () => {
  const run = lookingOf([0.3, 0.5]);
  assert.deepEqual(tokensOf(run, " [CLS] seven,8;\n9 ").tokens, [7, 8, 9]);
  assert.throws(() => tokenOf(run, "0"), /0 is \[CLS\]/);
  for (const word of ["-1", "1.5", "<b>", "1".repeat(10), "__proto__"]) assert.throws(() => tokenOf(run, word), /is not a token/);
});

test("the apostrophe of telephones stands for that of the vocabulary", () => {
  const words = { vocabulary: ["don't", "it’s", "'", "e\u{301}"] };
  const run = lookingOf([0.3, 0.5], undefined, { tokens: {}, config: { ...config, data: { ...config.data, words } } });
  assert.deepEqual(["don't", "Don’t", "it’s", "IT'S", "’", "\u{e9}"].map((word) => tokenOf(run, word)), [3, 3, 4, 4, 5, 6]);
  assert.deepEqual(tokensOf(run, "Don’t won’t"), { tokens: [3, 2], typed: ["", "won’t"], left: [] });
  const table = lookingOf([0.3, 0.5], undefined, { tokens: {}, config: { data: { words: { vocabulary: ["size=very large", "color=red", "size=3"] }, features: ["color", "size"] } } });
  assert.deepEqual(["red, very large", table.joined(table.texts({ tokens: [0, 4, 3] }))].map((text) => tokensOf(table, text).tokens), [[4, 3], [4, 3]]);
  assert.deepEqual(tokensOf(table, "red,3.0").tokens, [4, 5]);
});

test("what a reader typed for an unknown word stays in the sample and in its address", () => {
  const words = { vocabulary: ["the", "bank"] };
  const run = lookingOf([0.3, 0.5], undefined, { tokens: {}, config: { ...config, data: { ...config.data, words } } });
  run.source.judge = () => [];
  const { tokens, typed, left } = tokensOf(run, "The Zeppelin-~ñ flew on");
  assert.deepEqual([tokens, typed, left], [[3, 2], ["", "Zeppelin"], ["-", "~", "ñ", "flew", "on"]]);
  const { key } = run.own(tokens, ["", "Zeppelin-~ñ"]);
  assert.match(key, /^own-3-2~[^-~]+$/);
  const again = runOf(run.facts, run.source).sample(key);
  assert.deepEqual([again.tokens, run.texts(again), run.tokenText(again, 2)], [[0, 3, 2], ["the", "Zeppelin-~ñ"], "Zeppelin-~ñ"]);
  assert.equal(run.sample("own-3-2~%E0%A4%A"), null);
  assert.deepEqual(tokensOf(run, "[UNK]").typed, [""]);
});

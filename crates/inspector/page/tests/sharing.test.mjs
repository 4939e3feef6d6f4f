// What is shared: the picture of what is seen first, and the view of a saved page. And the surprises.

import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./page.mjs";

const [{ Run }, { MOST_TILES, sightOf, SIZE }, { surprisesOf }, { address, FIRST, readAddress }] = await load("run.js", "parts/sight.js", "parts/surprises.js", "view.js");

const HOSTILE = "</text><script>&\u0007\ud800";

/** A run of one sample, in which [CLS] gives the positions these weights. */
function runOf(rows, { tokens = rows[0].map(String), marked = [3], label = 1, chances = [0.9], heads = rows.length, ended = undefined } = {}) {
  const positions = rows[0].length;
  const facts = {
    name: "run", seed: 0, layers: 1, heads, positions, logits: chances.length === 1 ? 1 : chances.length, classes: [], cls: 0, steps: [900], ended,
    token_strings: Object.fromEntries(tokens.map((text, token) => [token, text])), samples: [{ number: 4, label, tokens: tokens.map((_, token) => token), marked }],
  };
  return new Run(facts, {
    kind: "recorded", row: (name, at, sample, layer, head) => Float64Array.from(rows[head]), allows: () => true, arrays: () => null, covers: () => true,
    results: (name) => name === "logits" ? chances.map((chance) => chance - 0.5) : chances,
  });
}

const shownOf = (run) => ({ run, sample: "4", one: run.samples[0], at: 0, query: 0, layer: 0, head: 0 });
const about = { question: "Can a tiny transformer learn: is token 42 at position 3?", title: "Attention of run", address: "example.org/headlight/page.html" };
const textsOf = (svg) => [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);

test("the picture has the question, the tiles, the answer, the sentence, the title and the address", () => {
  const { svg, width, height } = sightOf(shownOf(runOf([[0.1, 0.1, 0.1, 0.5, 0.1, 0.1]], { tokens: ["[CLS]", "16", "5", "42", "43", "32"] })), about);
  const texts = textsOf(svg);
  assert.deepEqual([width, height], [SIZE.width, SIZE.height]);
  for (const text of ["[CLS]", "42", "◆ 3", "50%", "0.9000", "Probability of “positive”", "Attention of run", "example.org/headlight/page.html"]) assert.ok(texts.includes(text), text);
  assert.ok(texts.join(" ").includes(about.question));
  assert.match(texts.join(" "), /\[CLS\] gives 50% of its attention to position 3 \(token 42\), which decides the label\. Uniform attention would give 17%\./);
  assert.equal(svg.match(/<path /g).length, 6);
  assert.ok(!textsOf(sightOf(shownOf(runOf([[0.5, 0.5]], { marked: [1] })), { ...about, address: "" }).svg).includes(about.address));
});

test("twelve words keep all their letters, and hold no markup", () => {
  const words = ["[CLS]", "the", "*", "soundtrack", "seemed", "not", "brilliant", ",", "while", "the", "disappointments", HOSTILE.slice(0, 12), "terrible"];
  const { svg } = sightOf(shownOf(runOf([words.map(() => 1 / 13)], { tokens: words, marked: [5, 6] })), about);
  const texts = textsOf(svg);
  for (const word of words.filter((word) => !word.includes("<"))) assert.ok(texts.includes(word), word);
  assert.ok(!svg.includes("<script>") && svg.includes("&lt;/text&gt;"));
});

test("many tokens are tiles without text; many classes are the most probable ones", () => {
  const count = MOST_TILES + 10;
  const many = sightOf(shownOf(runOf([Array(count).fill(1 / count)], { chances: [0.1, 0.2, 0.4, 0.3] })), about);
  const texts = textsOf(many.svg);
  assert.equal(many.svg.match(/rx="7"/g).length, count);
  assert.deepEqual(texts.filter((text) => /^0\.\d{4}$/.test(text)), ["0.4000", "0.3000", "0.2000"]);
  assert.ok(texts.includes("class 2") && !texts.includes("class 0"));
});

test("a long question and a long sentence stay within the picture", () => {
  const { svg } = sightOf(shownOf(runOf([[0.5, 0.5]], { marked: [1], tokens: ["[CLS]", "x".repeat(60)] })), { ...about, question: "Is it true? ".repeat(30), title: "a title ".repeat(40), address: "example.org/".repeat(30) });
  for (const [, y, size] of svg.matchAll(/<text x="[\d.]+" y="([\d.]+)" font-size="(\d+)"/g)) assert.ok(Number(y) > 0 && Number(y) < SIZE.height && Number(size) >= 12, `${y} ${size}`);
  assert.ok(textsOf(svg).every((text) => text.length < 130));
});

test("the address holds a surprise", () => {
  const view = { ...FIRST, surprise: "away", settings: { seed: 2479 } };
  const { surprise, settings } = readAddress(address(view));
  assert.deepEqual({ surprise, settings }, { surprise: "away", settings: { seed: 2479 } });
  assert.equal(readAddress(address(FIRST)).surprise, undefined);
});

const notebook = {
  seed: 0, data: { seed: 0, generator: "numpy", samples: 8000, vocab_size: 51, seq_len: 6, cls: "first", rule: { kind: "token-at-position", position: 3, token: 42 } },
  model: { d_model: 8, n_heads: 1, n_layers: 1, d_ff: 0, positions: true, attention: { mask: "none", temperature: 1 } }, training: { epochs: 3, batch_size: 16, learning_rate: 1e-3 },
};
const negation = {
  seed: 0, data: { seed: 0, samples: 6000, cls: "first", rule: { kind: "sentence", corpus: "negation" } },
  model: { d_model: 16, n_heads: 2, n_layers: 2, d_ff: 32, positions: true, attention: {} }, training: { epochs: 4, batch_size: 16, learning_rate: 3e-3 },
};
const keys = (config) => surprisesOf(config).map(({ key }) => key);

test("surprises are offered where they were found, whatever the page's seed", () => {
  assert.deepEqual(keys(notebook), ["elsewhere", "away", "positions", "causal", "causal-last"]);
  assert.deepEqual(keys({ ...notebook, seed: 7 }), keys(notebook));
  assert.deepEqual(keys(negation), ["only-not", "elsewhere", "uniform", "positions", "causal"]);
  for (const other of [null, { ...notebook, data: { ...notebook.data, rule: { kind: "count", token: 7 } } }, { ...notebook, model: { ...notebook.model, n_layers: 2 } }]) assert.deepEqual(keys(other), []);
  // The page's own value is no setting.
  assert.deepEqual(surprisesOf({ ...notebook, seed: 2479 }).find(({ key }) => key === "away").settings, {});
});

const seen = (key, run, config = notebook) => surprisesOf(config).find((surprise) => surprise.key === key).seen(shownOf(run));

test("a model that looks away is one only below uniform attention, and if it is right", () => {
  const weights = [0.4, 0.2, 0.2, 0.1, 0.1];
  assert.match(seen("away", runOf([weights])), /^Position 3 \(token 0\.1\) gets 10%, less than under uniform attention \(20%\), and the answer is right: the probability of “positive” is 0\.900\./);
  assert.equal(seen("away", runOf([weights], { chances: [0.1] })), "");
  assert.equal(seen("away", runOf([[0.2, 0.2, 0.1, 0.3, 0.2]])), "");
});

test("a causal mask is one if [CLS] sees only itself, and the held-out samples are counted", () => {
  const ended = (accuracy) => ({ held_out: { accuracy } });
  const said = seen("causal", runOf([[1, 0, 0, 0]], { chances: [0.02], ended: ended(0.9785) }));
  assert.match(said, /may look only at itself: 100%\. The probability of “positive” is 0\.020 for every sample\. Of the samples that were held out, 97\.9% are right all the same: the model answers “negative” for every sample, and so many are\.$/);
  assert.match(seen("causal", runOf([[1, 0, 0, 0]], { chances: [0.02], ended: ended(0.5) })), /50\.0% are right: the model answers “negative”/);
  assert.equal(seen("causal", runOf([[0.9, 0.1, 0, 0]])), "");
});

test("attention is nearly uniform if no head gives a token much more", () => {
  const even = [0.22, 0.26, 0.26, 0.26];
  assert.match(seen("uniform", runOf([even, even]), negation), /more than 26% \(uniform attention: 25%\), and the answer is right/);
  assert.equal(seen("uniform", runOf([even, [0.1, 0.1, 0.1, 0.7]]), negation), "");
});

test("the word “not” is found wherever it stands", () => {
  const tokens = ["[CLS]", "the", "*", "movie", "was", "fun", ",", "but", "the", "food", "was", "not", "bad"];
  const weights = (to) => tokens.map((_, position) => position === to ? 0.88 : 0.01);
  const found = (run) => surprisesOf(negation)[0].seen(shownOf(run));
  // Only one sample: there is none whose own clause has it, and so no mean.
  assert.equal(found(runOf([weights(11)], { tokens, marked: [5] })), "");
});

// Trains every built-in config in Node with the module of crates/lab, as a page does, and compares with the program: the bytes of the
// weights, and all samples, those to train on and those held out.
//
//     node scripts/checks/check_lab.mjs target/release/headlight
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { load } from "../../crates/page/script/tests/page.mjs";

const [{ Lab }] = await load("engine/lab");
const program = resolve(process.argv[2]);
const folder = mkdtempSync(join(tmpdir(), "lab-"));
const run = (...words) => execFileSync(program, words, { cwd: folder, encoding: "utf8", maxBuffer: 1e9 });

// What would take over a minute is trained for fewer steps, here as there.
const SHORTER = { grokking: ["--set", "training.epochs=100"] };

const module = await WebAssembly.compile(gunzipSync(readFileSync(new URL("../../crates/lab/lab.wasm.gz", import.meta.url))));

/** The names in `headlight init --list`, where each is at the start of a line. */
const listed = run("init", "--list").trim().split("\n").map((line) => line.split(" ", 1)[0]);
// The samples of `names` are a file that is too large for a page.
const names = listed.filter((name) => name !== "names");
assert.ok(names.length > 10, "the program lists its built-in configs");

/** What the page of a run trains again. @param {string} html */
function again(html) {
  const [, facts] = /<script type="application\/json" id="facts">([^<]*)<\/script>/.exec(html);
  return JSON.parse(facts).runs[0].again.live;
}

// The tokens of words begin after those of [CLS], padding and unknown words.
const FIRST_WORD = 3;

/** Samples as text: their label, and their words or tokens. */
function texts(samples, labels, { data: { words, classes } }) {
  const word = (token) => words.vocabulary[token - FIRST_WORD];
  const of = (tokens) => words ? tokens.filter((token) => token >= FIRST_WORD).map(word).join(" ") : tokens.join(" ");
  return samples.map((tokens, index) => `${classes?.[labels[index]] ?? labels[index]}: ${of(tokens)}`);
}

/** The samples of a config in a file of the program: `[train, held out]`. */
function written(name) {
  run("data", name, "--out", "data.jsonl", "--force");
  const rows = readFileSync(join(folder, "data.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const of = (isTrain) => rows.filter(({ split }) => ((split ?? "train") === "train") === isTrain);
  return [true, false].map((isTrain) => of(isTrain).map(({ label, text, tokens }) => `${label}: ${text ?? tokens.join(" ")}`));
}

/** All training samples of a config, some at a time: a training watches those that its config dumps. */
function trainedOn(lab, config) {
  const all = [];
  for (let count = 1; all.length < count;) {
    const samples = Array.from({ length: Math.min(2000, count - all.length) }, (_, index) => all.length + index);
    const begun = lab.ask({ operation: "begin", config: { ...config, dump: { ...config.dump, positives: 0, negatives: 0, samples } }, steps: 1 });
    count = begun.counts.train;
    all.push(...texts(begun.samples.map(({ tokens }) => tokens), begun.samples.map(({ label }) => label), config));
  }
  return all;
}

/** All held-out samples of a config, each once: those with [CLS], or with any of the tokens. */
function heldOut(lab, config) {
  const found = new Set();
  const tokens = config.data.cls === "none" ? Array(config.data.vocab_size).keys() : [0];
  for (const token of tokens) {
    const { samples, labels, held_out } = lab.ask({ operation: "find", config, token, most: 2 ** 32 - 1 });
    if (held_out) for (const text of texts(samples, labels, config)) found.add(text);
  }
  return [...found];
}

for (const name of names) {
  const before = performance.now();
  run("train", name, "--quiet", "--run", "run", ...(SHORTER[name] ?? []));
  const { config, steps, weights_sha256 } = again(readFileSync(join(folder, "run", "inspector.html"), "utf8"));
  rmSync(join(folder, "run"), { recursive: true });
  const lab = await Lab.of(module);
  const [train, held] = written(name);
  assert.deepEqual(trainedOn(lab, config), train, `${name}: training samples`);
  assert.deepEqual(heldOut(lab, config).sort(), [...new Set(held)].sort(), `${name}: held-out samples`);
  const summary = lab.ask({ operation: "summary", config });
  assert.deepEqual([summary.step, summary.weights_sha256], [steps, weights_sha256], `${name}: steps and weights`);
  console.log(`ok   ${name}: ${train.length} + ${held.length} samples, ${steps} steps, ${((performance.now() - before) / 1000).toFixed(1)} s`);
}
rmSync(folder, { recursive: true });

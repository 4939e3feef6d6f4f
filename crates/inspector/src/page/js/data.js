"use strict";
// The facts of the page, which `facts.rs` writes, and the numbers of the run that is shown: recorded ones
// (`recorded.js`), or those that the page computes itself (`live.js`).

const page = JSON.parse(document.getElementById("facts").textContent);
const P = page.runs[0].positions; // The same in all runs, like layers and heads.
// A source has the rows of scores and weights, the logits and probabilities of each sample, and the vectors.
const runs = page.runs.map((facts) => ({ facts, source: null }));

// All functions, here and in the other files, use the run that was entered last.
let current, facts, source, STEPS;
function enter(run) {
  current = run;
  ({ facts, source } = runs[run]);
  STEPS = facts.steps.length;
}
enter(0);

const matrixAt = (sample, layer, head) => ((sample * facts.layers + layer) * facts.heads + head) * P * P;

const allows = (sample, query, key) => !source.mask || source.mask[(sample * P + query) * P + key] === 1;

const scoreRow = (...where) => source.scoreRow(...where);
const weightRow = (...where) => source.weightRow(...where);

// How the numbers of the run came here.
const origin = () => source.isLive ? "computed" : "recorded";

// exp(x) for x <= 0, to the last bit the same as in `series.rs`.
function exp(x) {
  const part = Math.max(x, -64) / 256;
  let value = 1;
  for (let divisor = 10; divisor > 0; divisor--) value = 1 + value * part / divisor;
  for (let squared = 0; squared < 8; squared++) value *= value;
  return value;
}

// The softmax of a row of scores over the allowed keys, not rounded.
function softmax(scores, may, unit) {
  let most = -Infinity;
  for (let key = 0; key < P; key++) if (may(key) && scores[key] > most) most = scores[key];
  const shares = new Float64Array(P);
  let sum = 0;
  for (let key = 0; key < P; key++) {
    if (may(key)) sum += shares[key] = exp((scores[key] - most) / unit);
  }
  for (let key = 0; key < P && sum > 0; key++) shares[key] /= sum;
  return shares;
}

const tokenText = (sample, position) => facts.token_strings[facts.samples[sample].tokens[position]];

"use strict";
// The facts and numbers of the page, which `facts.rs`, `numbers.rs`, `series.rs` and `vectors.rs` write.

const page = JSON.parse(document.getElementById("facts").textContent);
const UNITS = 10000;
const P = page.runs[0].positions; // The same in all runs, like layers and heads.
// Axes of scores, corrections, logits and probabilities:
// [sample, layer, head, query, key, step], [step, sample, layer, head, query, key], [sample, logit, step] twice
const runs = page.runs.map((facts) => ({ facts, data: { mask: null, vectors: new Map() } }));

// All functions, here and in the other files, use the run that was entered last.
let current, facts, data, STEPS;
function enter(run) {
  current = run;
  ({ facts, data } = runs[run]);
  STEPS = facts.steps.length;
}
enter(0);

// Five letters to four bytes (`text85.rs`).
function bytesOf(text) {
  const words = new DataView(new ArrayBuffer(text.length / 5 * 4));
  for (let at = 0; at < text.length; at += 5) {
    let word = 0;
    for (let letter = at; letter < at + 5; letter++) {
      const code = text.charCodeAt(letter);
      word = word * 85 + (code === 126 ? 60 : code) - 40;
    }
    words.setUint32(at / 5 * 4, word);
  }
  return new Uint8Array(words.buffer);
}

async function unpack() {
  const { textContent, dataset } = document.getElementById("numbers");
  const packed = bytesOf(textContent).subarray(0, Number(dataset.bytes));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const buffer = await new Response(stream).arrayBuffer();
  const bytes = new Uint8Array(buffer);
  let at = 0;

  const planes = (count) => {
    const width = bytes[at++];
    const values = width < 3 ? new Int32Array(count) : new Float64Array(count);
    for (let plane = 0, unit = 1; plane < width; plane++, unit *= 256) {
      for (let index = 0; index < count; index++) values[index] += bytes[at++] * unit;
    }
    for (let index = 0; index < count; index++) {
      const folded = values[index];
      values[index] = folded % 2 ? -(folded + 1) / 2 : folded / 2;
    }
    return values;
  };
  const overTime = (cells) => {
    const values = planes(cells * STEPS);
    for (let index = 0; index < values.length; index++) {
      const step = index % STEPS;
      if (step) values[index] += values[index - 1];
      if (step > 1) values[index] += Math.floor(3 * (values[index - 1] - values[index - 2]) / 4);
    }
    return values;
  };

  const floats = (count) => {
    const values = new Float32Array(buffer.slice(at, at + 4 * count));
    at += 4 * count;
    return values;
  };
  for (const run of runs.keys()) {
    enter(run);
    const samples = facts.samples.length;
    const cells = samples * facts.layers * facts.heads * P * P;
    data.scores = overTime(cells);
    data.corrections = planes(cells * STEPS);
    data.logits = overTime(samples * facts.logits);
    data.probabilities = overTime(samples * facts.logits);
    if (facts.masked) {
      data.mask = bytes.subarray(at, at + samples * P * P);
      at += samples * P * P;
    }
    for (const step of facts.vectors) {
      data.vectors.set(step, Object.fromEntries(facts.vector_arrays.map(([name, count]) => [name, floats(count)])));
    }
  }
}

const matrixAt = (sample, layer, head) => ((sample * facts.layers + layer) * facts.heads + head) * P * P;

const allows = (sample, query, key) => !data.mask || data.mask[(sample * P + query) * P + key] === 1;

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

// A row of recorded scores, in ten-thousandths.
function scoreUnits(step, sample, layer, head, query) {
  const row = matrixAt(sample, layer, head) + query * P;
  const scores = new Float64Array(P);
  for (let key = 0; key < P; key++) scores[key] = data.scores[(row + key) * STEPS + step];
  return scores;
}

const scoreRow = (...where) => scoreUnits(...where).map((units) => units / UNITS);

// A row of recorded weights, to four decimals.
function weightRow(step, sample, layer, head, query) {
  const shares = softmax(scoreUnits(step, sample, layer, head, query), (key) => allows(sample, query, key), UNITS);
  const cells = facts.samples.length * facts.layers * facts.heads * P * P;
  const row = step * cells + matrixAt(sample, layer, head) + query * P;
  return shares.map((share, key) => (Math.floor(share * UNITS + 0.5) + data.corrections[row + key]) / UNITS);
}

const tokenText = (sample, position) => facts.token_strings[facts.samples[sample].tokens[position]];

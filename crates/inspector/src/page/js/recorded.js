// Recorded numbers, to four decimals: `numbers.rs`, `series.rs`, `vectors.rs` and `text85.rs` write them.

const UNITS = 10000;

// Five letters to four bytes.
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

// The bytes that an element of the page holds, inflated.
async function unpacked(id, format) {
  const { textContent, dataset } = document.getElementById(id);
  const packed = bytesOf(textContent).subarray(0, Number(dataset.bytes));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream(format));
  return new Response(stream).arrayBuffer();
}

// Axes of scores, corrections, logits and probabilities:
// [sample, layer, head, query, key, step], [step, sample, layer, head, query, key], [sample, logit, step] twice
class Recorded {
  isLive = false;
  mask = null;
  steps = new Map();

  // A row of scores, in ten-thousandths.
  scoreUnits(step, sample, layer, head, query) {
    const row = matrixAt(sample, layer, head) + query * P;
    const scores = new Float64Array(P);
    for (let key = 0; key < P; key++) scores[key] = this.scores[(row + key) * STEPS + step];
    return scores;
  }

  scoreRow(...where) {
    return this.scoreUnits(...where).map((units) => units / UNITS);
  }

  weightRow(step, sample, layer, head, query) {
    const shares = softmax(this.scoreUnits(step, sample, layer, head, query), (key) => allows(sample, query, key), UNITS);
    const cells = facts.samples.length * facts.layers * facts.heads * P * P;
    const row = step * cells + matrixAt(sample, layer, head) + query * P;
    return shares.map((share, key) => (Math.floor(share * UNITS + 0.5) + this.corrections[row + key]) / UNITS);
  }

  results(name, sample, step) {
    return range(facts.logits).map((at) => this[name][(sample * facts.logits + at) * STEPS + step] / UNITS);
  }

  vectors(step) {
    return this.steps.get(step);
  }
}

async function unpack() {
  const buffer = await unpacked("numbers", "deflate-raw");
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
    runs[run].source = new Recorded();
    enter(run);
    const samples = facts.samples.length;
    const cells = samples * facts.layers * facts.heads * P * P;
    source.scores = overTime(cells);
    source.corrections = planes(cells * STEPS);
    source.logits = overTime(samples * facts.logits);
    source.probabilities = overTime(samples * facts.logits);
    if (facts.masked) {
      source.mask = bytes.subarray(at, at + samples * P * P);
      at += samples * P * P;
    }
    for (const step of facts.vectors) {
      source.steps.set(step, Object.fromEntries(facts.vector_arrays.map(([name, count]) => [name, floats(count)])));
    }
  }
}

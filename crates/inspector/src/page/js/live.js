// The numbers of a training of this page: of every step, and of samples that the reader types.

// The name of the reader's own sample, in addresses and files before its tokens.
const OWN = "own";

class Live {
  isLive = true;

  constructor(lab, config, row, parts) {
    Object.assign(this, { lab, config });
    this.trained = rowsOf(row, parts.flatMap((part) => part.kept.map((_, index) => [part.floats.subarray(part.losses), index])));
    this.samples = facts.samples;
    this.renew();
  }

  // After a change of the samples.
  renew() {
    this.kept = { step: -1 };
    const { mask } = this.look(0);
    this.mask = mask.length ? Uint8Array.from(mask) : null;
  }

  // A part of what the training kept of a step.
  part(step, name) {
    return this.trained[step][name];
  }

  // The numbers of a step that hold a sample, and the sample's place among them: the reader's own sample has its own.
  holding(step, sample) {
    return sample < this.samples.length ? [this.trained[step], sample] : [this.own[step], 0];
  }

  row(name, step, sample, layer, head, query) {
    const [numbers, at] = this.holding(step, sample);
    const start = matrixAt(at, layer, head) + query * P;
    return Float64Array.from(numbers[name].subarray(start, start + P));
  }

  scoreRow(...where) {
    return this.row("attention_scores", ...where);
  }

  weightRow(...where) {
    return this.row("attention_weights", ...where);
  }

  results(name, sample, step) {
    const [numbers, at] = this.holding(step, sample);
    return Array.from(numbers[name].subarray(at * facts.logits, (at + 1) * facts.logits));
  }

  // Computes a sample of the reader at each step, and adds it to the samples; returns its index. Throws an error with a
  // sentence if the model cannot take it.
  lookAt(tokens) {
    const weights = new Float32Array(STEPS * this.part(0, "weights").length);
    for (let step = 0; step < STEPS; step++) weights.set(this.part(step, "weights"), step * this.part(0, "weights").length);
    const { row, judged, floats } = this.lab.ask({ operation: "watch", config: this.config, tokens: [tokens] }, weights);
    this.own = rowsOf(row, range(STEPS).map((step) => [floats, step]));
    const [label, marked] = judged?.[0] ?? [null, []];
    facts.samples = [...this.samples, { number: OWN, label, tokens, marked }];
    for (const token of tokens) facts.token_strings[token] ??= String(token);
    this.renew();
    return this.samples.length;
  }

  // All arrays of a step, computed with its weights.
  look(step) {
    const tokens = facts.samples.map((sample) => sample.tokens);
    const found = this.lab.ask({ operation: "look", config: this.config, tokens }, this.part(step, "weights"));
    let at = 0;
    for (const [name, length] of found.arrays) {
      found[name] = found.floats.subarray(at, at + length);
      at += length;
    }
    return found;
  }

  vectors(step) {
    if (this.kept.step !== step) this.kept = { step, found: this.look(step) };
    return this.kept.found;
  }
}

// Named parts of rows that lie one after the other: each place is an array of numbers and the index of a row in it.
function rowsOf(row, places) {
  const size = row.reduce((sum, [, length]) => sum + length, 0);
  return places.map(([floats, index]) => {
    let at = index * size;
    return Object.fromEntries(row.map(([name, length]) => [name, floats.subarray(at, at += length)]));
  });
}

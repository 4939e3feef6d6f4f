// Recorded numbers, to four decimals: `numbers.rs`, `series.rs` and `vectors.rs` write them.

import { range, softmax } from "../model/numbers";
import type { Arrays, Facts, Sample, Show, Source } from "../model/types";

const UNITS = 10000;

// Axes of scores, corrections, logits and probabilities:
// [sample, layer, head, query, key, step], [step, sample, layer, head, query, key], [sample, answer, logit, step] twice
export class Recorded implements Source {
  kind = "recorded" as const;
  #samples = this.facts.samples.length;
  #steps = this.facts.steps.length;
  #cells = this.#samples * this.facts.layers * this.facts.heads * this.facts.positions ** 2;
  #answers = this.facts.task ? this.facts.positions : 1;
  #outputs = this.#samples * this.#answers * this.facts.logits;
  // What follows is read in this order.
  scores = this.reader.overTime(this.#cells, this.#steps);
  corrections = this.reader.planes(this.#cells * this.#steps);
  logits = this.reader.overTime(this.#outputs, this.#steps);
  probabilities = this.reader.overTime(this.#outputs, this.#steps);
  mask = this.facts.masked ? this.reader.take(this.#samples * this.facts.positions ** 2) : null;
  vectors = new Map(
    this.facts.vectors.map((step) => [
      step,
      this.facts.vector_arrays.map(([name, count]) => [name, this.reader.floats(count)] as const),
    ]),
  );

  constructor(
    readonly facts: Facts,
    readonly reader: Reader,
  ) {}

  #start(sample: Sample, layer: number, head: number, query: number) {
    const { layers, heads, positions } = this.facts;
    return (((Number(sample.index) * layers + layer) * heads + head) * positions + query) * positions;
  }

  // Pictures of many heads are made of very many rows, which loops make fastest.
  row(name: Show, at: number, sample: Sample, layer: number, head: number, query: number): Float64Array {
    const { positions } = this.facts;
    const start = this.#start(sample, layer, head, query);
    const row = new Float64Array(positions);
    for (let key = 0; key < positions; key++) row[key] = this.scores[(start + key) * this.#steps + at];
    if (name === "scores") {
      for (let key = 0; key < positions; key++) row[key] /= UNITS;
      return row;
    }
    const shares = softmax(row, (key) => this.allows(sample, query, key), UNITS);
    const corrections = at * this.#cells + start;
    for (let key = 0; key < positions; key++)
      shares[key] = (Math.floor(shares[key] * UNITS + 0.5) + this.corrections[corrections + key]) / UNITS;
    return shares;
  }

  results(name: "logits" | "probabilities", at: number, sample: Sample): number[] {
    const { logits } = this.facts;
    const start = (Number(sample.index) * this.#answers + (sample.asked ?? 0)) * logits;
    return range(logits).map((logit) => this[name][(start + logit) * this.#steps + at] / UNITS);
  }

  arrays(at: number, { index }: Sample): Arrays | null {
    const all = this.vectors.get(at);
    if (!all || index === null) return null;
    return Object.fromEntries(
      all.map(([name, values]) => {
        const size = values.length / this.#samples;
        return [name, values.subarray(index * size, (index + 1) * size)];
      }),
    );
  }

  allows(sample: Sample, query: number, key: number): boolean {
    const { positions } = this.facts;
    return !this.mask || this.mask[(Number(sample.index) * positions + query) * positions + key] === 1;
  }

  covers(sample: Sample) {
    return sample.index !== null;
  }
}

/** Reads the packed numbers one after the other. */
export class Reader {
  bytes = new Uint8Array(this.buffer);
  at = 0;

  constructor(readonly buffer: ArrayBuffer) {}

  take(count: number) {
    return this.bytes.subarray(this.at, (this.at += count));
  }

  floats(count: number) {
    const bytes = new Uint8Array(4 * count);
    for (let part = 0; part < 4; part++)
      for (let index = 0; index < count; index++) bytes[4 * index + part] = this.bytes[this.at++];
    return new Float32Array(bytes.buffer);
  }

  /** Whole numbers whose bytes lie in planes. */
  planes(count: number) {
    const width = this.bytes[this.at++];
    const values = width < 3 ? new Int32Array(count) : new Float64Array(count);
    for (let plane = 0, unit = 1; plane < width; plane++, unit *= 256) {
      for (let index = 0; index < count; index++) values[index] += this.bytes[this.at++] * unit;
    }
    for (let index = 0; index < count; index++) {
      const folded = values[index];
      values[index] = folded % 2 ? -(folded + 1) / 2 : folded / 2;
    }
    return values;
  }

  /** Such numbers, as differences from what the steps before let expect. */
  overTime(cells: number, steps: number) {
    const values = this.planes(cells * steps);
    for (let index = 0; index < values.length; index++) {
      const step = index % steps;
      if (step) values[index] += values[index - 1];
      if (step > 1) values[index] += Math.floor((3 * (values[index - 1] - values[index - 2])) / 4);
    }
    return values;
  }
}

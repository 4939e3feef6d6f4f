// Recorded numbers, to four decimals: `numbers.rs`, `series.rs` and `vectors.rs` write them.

import { range, softmax } from "../model/numbers";
import type { Arrays, Facts, Sample, Show, Source } from "../model/types";

const UNITS = 10000;

type Units = Float64Array | Int32Array;

// Axes of scores, corrections, logits and probabilities:
// [sample, layer, head, query, key, step], [step, sample, layer, head, query, key], [sample, answer, logit, step] twice
export class Recorded implements Source {
  cells: number;
  scores: Units;
  corrections: Units;
  answers: number;
  logits: Units;
  probabilities: Units;

  kind = "recorded" as const;
  mask: Uint8Array | null = null;
  steps = new Map<number, Arrays>();

  constructor(
    readonly facts: Facts,
    reader: Reader,
  ) {
    const samples = facts.samples.length;
    this.cells = samples * facts.layers * facts.heads * facts.positions ** 2;
    const steps = facts.steps.length;
    this.scores = reader.overTime(this.cells, steps);
    this.corrections = reader.planes(this.cells * steps);
    this.answers = facts.task ? facts.positions : 1;
    const logits = samples * this.answers * facts.logits;
    this.logits = reader.overTime(logits, steps);
    this.probabilities = reader.overTime(logits, steps);
    if (facts.masked) this.mask = reader.take(samples * facts.positions ** 2);
    for (const step of facts.vectors) {
      this.steps.set(
        step,
        Object.fromEntries(facts.vector_arrays.map(([name, count]) => [name, reader.floats(count)])),
      );
    }
  }

  #start(sample: Sample, layer: number, head: number, query: number) {
    const { layers, heads, positions } = this.facts;
    return (((Number(sample.index) * layers + layer) * heads + head) * positions + query) * positions;
  }

  // Pictures of many heads are made of very many rows, which loops make fastest.
  row(name: Show, at: number, sample: Sample, layer: number, head: number, query: number): Float64Array {
    const {
      positions,
      steps: { length },
    } = this.facts;
    const start = this.#start(sample, layer, head, query);
    const row = new Float64Array(positions);
    for (let key = 0; key < positions; key++) row[key] = this.scores[(start + key) * length + at];
    if (name === "scores") {
      for (let key = 0; key < positions; key++) row[key] /= UNITS;
      return row;
    }
    const shares = softmax(row, (key) => this.allows(sample, query, key), UNITS);
    const corrections = at * this.cells + start;
    for (let key = 0; key < positions; key++)
      shares[key] = (Math.floor(shares[key] * UNITS + 0.5) + this.corrections[corrections + key]) / UNITS;
    return shares;
  }

  results(name: "logits" | "probabilities", at: number, sample: Sample): number[] {
    const { logits, steps } = this.facts;
    const start = (Number(sample.index) * this.answers + (sample.asked ?? 0)) * logits;
    return range(logits).map((logit) => this[name][(start + logit) * steps.length + at] / UNITS);
  }

  arrays(at: number, { index }: Sample): Arrays | null {
    const all = this.steps.get(at);
    if (!all || index === null) return null;
    return Object.fromEntries(
      Object.entries(all).map(([name, values]) => {
        const size = values.length / this.facts.samples.length;
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
  buffer: ArrayBuffer;
  bytes: Uint8Array<ArrayBuffer>;
  at: number;

  constructor(buffer: ArrayBuffer) {
    this.buffer = buffer;
    this.bytes = new Uint8Array(buffer);
    this.at = 0;
  }

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

// The numbers of a training that the page made itself: of every step, of any sample, and with the reader's changes.

import { signal } from "@preact/signals";
import { logitsOf } from "../config.js";
import { partsOf, sizeOf } from "../engine/lab.js";
import { known } from "../kept.js";

/** @typedef {[string, number][]} Row names and lengths */

const NAMES = { scores: "attention_scores", weights: "attention_weights" };
// Looks at single steps that are kept: about a second of playing.
const MOST_LOOKS = 64;

// As many sentences as a plane still shows one by one.
const MOST_OCCURRENCES = 60;

/** @typedef {{ held_out: number, samples: number[][], labels: number[], all: number }} Found the first occurrences, and how many there are in all */
/** The places are the sample's number among those found, the position, and whether the class is about it; the floats `[level, place, component]`. @typedef {{ levels: string[], shares: [number, number][], places: [number, number, number][], floats: Float32Array }} Planes */

/** What a training gave. @typedef {object} Trained
 * @property {Config} config
 * @property {Row} row what a kept step holds, the weights first
 * @property {[string, number[]][]} parameters names and shapes
 * @property {{ floats: Float32Array, start: number }[]} steps where the row of each kept step lies
 * @property {import("../engine/lab.js").Lab} lab
 * @property {import("../engine/workers.js").LabWorker} worker
 * @property {unknown} [given] the samples as the lab takes them, if they come from a file
 */

/** @implements {Source} */
export class Live {
  kind = /** @type {const} */ ("live");
  /** Counts curves that arrived; who reads it is shown again then. */
  arrived = signal(0);
  /** Rows of all steps of samples that were not watched while training; null while they are computed, false if they cannot be. @type {Map<string, { floats: Float32Array, size: number, starts: Record<string, number>, index: number } | null | false>} */
  #watched = new Map();
  /** Samples to compute together. @type {Sample[]} */
  #asked = [];
  /** The mask of all samples, if it is the same for all. @type {number[] | null} */
  #mask = null;
  /** @type {Map<string, any>} */
  #looks = new Map();
  /** @type {Map<number, Found>} */
  #found = new Map();

  /** @param {Trained} trained @param {number} samples how many samples the rows hold @param {Changes} [changes] @param {(key: string) => Sample | null} [find] the sample of a key, for patches */
  constructor(trained, samples, changes = {}, find = () => null) {
    this.trained = trained;
    this.samples = samples;
    this.changes = changes;
    this.find = find;
    this.isChanged = Object.keys(changes).length > 0;
    this.config = changedConfig(trained.config, changes);
    const { model, data } = trained.config;
    const positions = data.seq_len + (data.cls === "none" ? 0 : 1);
    this.shape = { heads: model.n_heads, layers: model.n_layers, positions };
    this.logits = logitsOf(trained.config);
    this.answers = data.task ? positions : 1;
    this.weightCount = trained.row[0][1];
    this.starts = startsOf(trained.row);
  }

  /** The weights of a step. @param {number} at */
  weightsAt(at) {
    const { floats, start } = this.trained.steps[at];
    return floats.subarray(start, start + this.weightCount);
  }

  /** The numbers that hold an array of a sample at a step, where the array begins in them, and the sample's place in it. Curves ask this for each step and sample. @param {string} name @param {number} at @param {Sample} sample @returns {[Float32Array, number, number]} */
  #holding(name, at, sample) {
    if (sample.index !== null && !this.isChanged) {
      const { floats, start } = this.trained.steps[at];
      return [floats, start + this.starts[name], sample.index];
    }
    const watched = this.#watched.get(sample.key);
    if (watched) return [watched.floats, at * watched.size + watched.starts[name], watched.index];
    return [this.look(at, sample)[name], 0, 0];
  }

  /** @type {Source["row"]} */
  row(name, at, sample, layer, head, query) {
    const [floats, first, index] = this.#holding(NAMES[name], at, sample);
    const { heads, layers, positions } = this.shape;
    const start = first + (((index * layers + layer) * heads + head) * positions + query) * positions;
    // Curves are made of very many short rows, which a loop copies fastest.
    const found = new Float64Array(positions);
    for (let key = 0; key < positions; key++) found[key] = floats[start + key];
    return found;
  }

  /** @type {NonNullable<Source["weight"]>} */
  weight(at, sample, layer, head, query, key) {
    const [floats, first, index] = this.#holding(NAMES.weights, at, sample);
    const { heads, layers, positions } = this.shape;
    return floats[first + (((index * layers + layer) * heads + head) * positions + query) * positions + key];
  }

  /** @type {Source["results"]} */
  results(name, at, sample) {
    const [floats, first, index] = this.#holding(name, at, sample);
    const found = [];
    const start = first + (index * this.answers + (sample.asked ?? 0)) * this.logits;
    for (let logit = 0; logit < this.logits; logit++) found.push(floats[start + logit]);
    return found;
  }

  /** @type {Source["arrays"]} */
  arrays(at, sample) {
    return this.look(at, sample);
  }

  /** All arrays of a sample at a step, with `mask` and `judged`. @param {number} at @param {Sample} sample @returns {any} */
  look(at, sample) {
    const ask = () => this.#ask(at, sample.tokens, this.interventions(at));
    return known(this.#looks, MOST_LOOKS, `${at},${sample.key}`, ask);
  }

  /** @param {number} at @param {number[]} tokens @param {unknown[]} interventions @returns {any} */
  #ask(at, tokens, interventions) {
    const answer = this.trained.lab.ask(
      { operation: "look", config: this.config, tokens: [tokens], interventions },
      this.weightsAt(at),
    );
    return { ...partsOf(answer.arrays, answer.floats), mask: answer.mask, judged: answer.judged };
  }

  /** The reader's changes as `crates/lab` takes them. @param {number} at */
  interventions(at) {
    const { heads = [], keys = [], rows = [], patches = [] } = this.changes;
    const { layers } = this.shape;
    const everywhere = Array.from({ length: layers }, (_, layer) => layer);
    return [
      ...heads.map(([layer, head]) => ({ kind: "remove_head", layer, head })),
      ...keys.flatMap((position) => everywhere.map((layer) => ({ kind: "remove_key", layer, position }))),
      ...rows.map((row) => ({ kind: "set_weights", ...row })),
      ...patches.flatMap(({ place, layer, position, from }) => {
        const donor = this.find(from);
        if (!donor) return [];
        const arrays = this.#ask(at, donor.tokens, []);
        const width = this.config.model.d_model;
        const values =
          place === "context"
            ? contextOf(arrays.context, this.shape, layer, position)
            : arrays[place]
                .subarray(((place === "embeddings" ? 0 : layer * this.shape.positions) + position) * width)
                .subarray(0, width);
        return [{ kind: "replace", place, layer, position, vector: Array.from(values) }];
      }),
    ];
  }

  /** @type {NonNullable<Source["judge"]>} */
  judge(tokens) {
    if (tokens.some((token) => !Number.isInteger(token) || token < 0)) throw new Error("a token is a whole number");
    const { judged } = this.#ask(0, tokens, []);
    return judged?.[0] ?? [];
  }

  /** @type {Source["allows"]} */
  allows(sample, query, key) {
    if (this.changes.keys?.includes(key)) return false;
    const mask = this.#mask ?? this.#maskOf(sample);
    return !mask.length || mask[query * this.shape.positions + key] === 1;
  }

  /** @param {Sample} sample @returns {number[]} */
  #maskOf(sample) {
    const { mask } = this.look(0, sample);
    // A mask depends on the sample only where padding is masked.
    if (this.config.model.attention?.padding_token == null) this.#mask = mask;
    return mask;
  }

  /** @param {Sample} sample */
  covers(sample) {
    if (sample.index !== null && !this.isChanged) return true;
    if (!this.#watched.has(sample.key)) {
      this.#watched.set(sample.key, null);
      if (this.#asked.push(sample) === 1) queueMicrotask(() => this.#watch(this.#asked.splice(0)));
    }
    const found = this.#watched.get(sample.key);
    return found === false ? null : found !== null;
  }

  /** Computes all steps of samples, in the worker. @param {Sample[]} samples */
  async #watch(samples) {
    // A patch has another vector at each step, so its curve is that of the last step's vector.
    const head = {
      operation: "watch",
      config: this.config,
      tokens: samples.map(({ tokens }) => tokens),
      interventions: this.interventions(this.trained.steps.length - 1),
    };
    try {
      const { row, floats } = await this.trained.worker.run({ name: "watch", head });
      const [size, starts] = [sizeOf(row), startsOf(row)];
      for (const [index, { key }] of samples.entries()) this.#watched.set(key, { floats, size, starts, index });
    } catch {
      // Single steps can still be looked at.
      for (const { key } of samples) this.#watched.set(key, false);
    }
    this.arrived.value++;
  }

  /** @type {NonNullable<Source["parameter"]>} */
  parameter(name, at) {
    let start = 0;
    for (const [own, shape] of this.trained.parameters) {
      const size = shape.reduce((product, side) => product * side, 1);
      if (own === name) return { shape, values: this.weightsAt(at).subarray(start, start + size) };
      start += size;
    }
    return null;
  }

  /** Samples that hold a token, as the lab finds them: held-out ones, if there are any. @param {number} token @returns {Found} */
  found(token) {
    const { lab, config, given } = this.trained;
    const ask = () => lab.ask({ operation: "find", config, samples: given, token, most: MOST_OCCURRENCES });
    return known(this.#found, MOST_LOOKS, token, ask);
  }

  /** Where the vectors of a token lie at a step, in the samples that hold it, without the reader's changes. @param {number} token @param {number} at @returns {Planes} */
  planes(token, at) {
    const { lab, config } = this.trained;
    return lab.ask({ operation: "planes", config, tokens: this.found(token).samples, token }, this.weightsAt(at));
  }

  /** The same training with other changes. @param {Changes} changes @param {(key: string) => Sample | null} find */
  changed(changes, find) {
    return new Live(this.trained, this.samples, changes, find);
  }
}

/** Where the parts of a row begin. @param {Row} row @returns {Record<string, number>} */
function startsOf(row) {
  let start = 0;
  return Object.fromEntries(row.map(([name, length]) => [name, (start += length) - length]));
}

/** A temperature and a causal mask are keys of the config. @param {Config} config @param {Changes} changes */
function changedConfig(config, { temperature = 1, causal = false }) {
  if (temperature === 1 && !causal) return config;
  const { attention } = config.model;
  const mask = causal ? "causal" : attention.mask;
  const changed = { ...attention, mask, temperature: (attention.temperature ?? 1) * temperature };
  return { ...config, model: { ...config.model, attention: changed } };
}

/** A block's context of a position, head after head. @param {Float32Array} context `[layer, head, position, d_head]` @param {{ heads: number, layers: number, positions: number }} shape @param {number} layer @param {number} position */
function contextOf(context, { heads, layers, positions }, layer, position) {
  const width = context.length / (layers * heads * positions);
  return Array.from({ length: heads }, (_, head) => {
    const start = ((layer * heads + head) * positions + position) * width;
    return Array.from(context.subarray(start, start + width));
  }).flat();
}

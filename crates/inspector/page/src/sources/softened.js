// Recorded numbers with another temperature or a causal mask: the page computes the softmax of the shown block's scores
// again, and nothing after it.

import { softmax } from "../numbers.js";

/** @typedef {import("../types").Source} Source */

/** @implements {Source} */
export class Softened {
  /** @param {Source} source @param {import("../types").Changes} changes @param {import("../types").Config} [attention] that of the model's config */
  constructor(source, { temperature = 1, causal = false }, { rate = 1, softmax: hasSoftmax = true } = {}) {
    this.rate = rate;
    this.hasSoftmax = hasSoftmax;
    this.source = source;
    this.kind = source.kind;
    this.temperature = temperature;
    this.causal = causal;
  }

  /** @type {Source["row"]} */
  row(name, at, sample, layer, head, query) {
    const scores = this.source.row("scores", at, sample, layer, head, query);
    if (name === "scores") return scores.map((score) => score / this.temperature);
    const may = (/** @type {number} */ key) => this.allows(sample, query, key);
    if (!this.hasSoftmax) return scores.map((score, key) => may(key) ? score / this.temperature : 0);
    const shares = softmax(scores, may, this.temperature);
    return this.rate === 1 ? shares : shares.map((share, key) => may(key) ? this.rate * share + 1 - this.rate : 0);
  }

  /** @type {Source["results"]} */
  results(...where) {
    return this.source.results(...where);
  }

  /** @type {Source["arrays"]} */
  arrays(...where) {
    return this.source.arrays(...where);
  }

  /** @type {Source["allows"]} */
  allows(sample, query, key) {
    return this.source.allows(sample, query, key) && (!this.causal || key <= query);
  }

  /** @type {Source["covers"]} */
  covers(sample) {
    return this.source.covers(sample);
  }
}

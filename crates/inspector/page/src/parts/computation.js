// The way of one sample through a model, a computation at a time. Each computation starts from the engine's own numbers
// before it, so that its result can be held against the engine's.

import { range, softmax } from "../numbers.js";

/** @typedef {import("../types").Facts} Facts */
/** @typedef {{ shape: number[], values: Float32Array } | null} Parameter */

/**
 * @typedef {object} Way
 * @property {Facts} facts
 * @property {number[]} tokens with [CLS]
 * @property {import("../types").Arrays} arrays of the sample
 * @property {(name: string) => Parameter} parameter null where a page has no weights
 * @property {(name: "scores" | "weights", layer: number, head: number, query: number) => ArrayLike<number>} row the engine's
 * @property {(query: number, key: number) => boolean} allows
 * @property {number[]} logits
 * @property {number[]} probabilities
 * @property {import("../types").Changes} changes the reader's, which the arrays have
 * @property {number} layer
 * @property {number} head
 * @property {number} query
 */

/** @param {ArrayLike<number>} one @param {ArrayLike<number>} other */
export function product(one, other) {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += one[at] * other[at];
  return sum;
}

/** @param {ArrayLike<number>[]} vectors */
export const sum = (...vectors) => Array.from(vectors[0], (_, at) => vectors.reduce((total, vector) => total + vector[at], 0));

/** Each vector times its weight, added up. @param {ArrayLike<number>} weights @param {number[][]} vectors */
export const weighted = (weights, vectors) => vectors[0].map((_, at) => vectors.reduce((total, vector, index) => total + weights[index] * vector[at], 0));

/** The layer norm of a vector, step by step. @param {number[]} vector @param {number} eps @param {ArrayLike<number>} [gamma] @param {ArrayLike<number>} [beta] */
export function normOf(vector, eps, gamma, beta) {
  const mean = vector.reduce((total, value) => total + value, 0) / vector.length;
  const variance = vector.reduce((total, value) => total + (value - mean) ** 2, 0) / vector.length;
  const even = vector.map((value) => (value - mean) / Math.sqrt(variance + eps));
  return { mean, variance, even, scaled: gamma && beta ? even.map((value, at) => value * gamma[at] + beta[at]) : null };
}

/** The probabilities that logits stand for: of one logit the sigmoid, else the softmax. @param {number[]} logits */
export function chancesOf(logits) {
  if (logits.length === 1) return [1 / (1 + Math.exp(-logits[0]))];
  return Array.from(softmax(Float64Array.from(logits), () => true, 1));
}

/** The largest difference of two lists of numbers; NaN if a number is none. @param {ArrayLike<number>} one @param {ArrayLike<number>} other */
export const difference = (one, other) => Math.max(0, ...Array.from(one, (value, at) => Math.abs(value - other[at])));

/** A matrix `[in, out]` of parameters, and its bias. @typedef {{ rows: number[][], bias: number[] }} Linear */

/** @param {ArrayLike<number>} vector @param {Linear} linear */
export const affine = (vector, { rows, bias }) => bias.map((start, column) => rows.reduce((total, row, at) => total + vector[at] * row[column], start));

export class Computation {
  /** @param {Way} way */
  constructor(way) {
    this.way = way;
    const { facts, layer, head, query } = way;
    this.facts = facts;
    this.layer = layer;
    this.head = head;
    this.query = query;
    this.positions = range(facts.positions);
    this.block = `blocks.${layer}`;
    /** Whether the model's weights are at hand: a recording has none. */
    this.hasWeights = way.parameter("token_embedding") !== null;
    this.factor = facts.factor / (way.changes.temperature ?? 1);
    this.isLast = layer === facts.layers - 1;
  }

  // The engine's numbers.

  /** A vector of a head. @param {"query" | "key" | "value" | "context"} name @param {number} position @param {number} [head] */
  ofHead(name, position, head = this.head) {
    const { heads, positions, d_head } = this.facts;
    const start = ((this.layer * heads + head) * positions + position) * d_head;
    return Array.from(this.way.arrays[name].subarray(start, start + d_head));
  }

  /** A vector of a position; null where there is no such array. @param {string} name @param {number} [position] @param {number} [layer] @returns {number[] | null} */
  ofPosition(name, position = this.query, layer = this.layer) {
    const array = this.way.arrays[name];
    const { layers, positions } = this.facts;
    if (!array?.length) return null;
    const width = array.length / positions / (name === "embeddings" ? 1 : layers);
    const start = ((name === "embeddings" ? 0 : layer * positions) + position) * width;
    return Array.from(array.subarray(start, start + width));
  }

  /** What a block takes from before. @param {number} [position] @param {number} [layer] */
  input(position = this.query, layer = this.layer) {
    return layer === 0 ? this.ofPosition("embeddings", position) : this.ofPosition("output", position, layer - 1);
  }

  /** @param {number} [query] */
  scores(query = this.query) { return Array.from(this.way.row("scores", this.layer, this.head, query)); }
  /** @param {number} [query] */
  weights(query = this.query) { return Array.from(this.way.row("weights", this.layer, this.head, query)); }

  /** The contexts of all heads, one after the other. */
  contexts() { return range(this.facts.heads).flatMap((head) => this.ofHead("context", this.query, head)); }

  // The model's weights.

  /** @param {string} name @returns {number[] | null} */
  vector(name) {
    const found = this.way.parameter(name);
    return found && Array.from(found.values);
  }

  /** A row of an embedding. @param {string} name @param {number} index @returns {number[] | null} */
  rowOf(name, index) {
    const found = this.way.parameter(name);
    if (!found) return null;
    const width = found.shape[1];
    return Array.from(found.values.subarray(index * width, (index + 1) * width));
  }

  /** @param {string} name @param {number} [first] the first column @param {number} [count] of columns @returns {Linear | null} */
  linear(name, first = 0, count) {
    const weight = this.way.parameter(`${name}.weight`);
    const bias = this.vector(`${name}.bias`);
    if (!weight || !bias) return null;
    const [inputs, outputs] = weight.shape;
    const columns = range(count ?? outputs).map((column) => first + column);
    return { rows: range(inputs).map((row) => columns.map((column) => weight.values[row * outputs + column])), bias: columns.map((column) => bias[column]) };
  }

  /** The projection of this head; null if the model has none. @param {"query" | "key" | "value"} kind */
  projection(kind) {
    const { d_head } = this.facts;
    return this.linear(`${this.block}.attention.${kind}`, this.head * d_head, d_head) ?? this.linear(`${this.block}.attention.shared`, this.head * d_head, d_head);
  }

  // The computations. What needs weights is null without them.

  /** The vectors of a token and of its position, and their sum. A model may have none of positions. @param {number} [position] */
  embedding(position = this.query) {
    const token = this.rowOf("token_embedding", this.way.tokens[position]);
    if (!token) return null;
    const place = this.rowOf("position_embedding", position);
    return { token, place, sum: place ? sum(token, place) : token };
  }

  /** @param {"query" | "key" | "value"} kind @param {number} [position] @returns {number[] | null} */
  projected(kind, position = this.query) {
    const input = this.hasWeights ? this.input(position) : null;
    if (!input) return null;
    const projection = this.projection(kind);
    const { d_head } = this.facts;
    return projection ? affine(input, projection) : input.slice(this.head * d_head, (this.head + 1) * d_head);
  }

  /** The query's product with each key. @param {number} [query] */
  products(query = this.query) {
    const vector = this.ofHead("query", query);
    return this.positions.map((key) => product(vector, this.ofHead("key", key)));
  }

  /** @param {number} key @param {number} [query] */
  allows(key, query = this.query) {
    return this.way.allows(query, key) && !this.way.changes.keys?.includes(key);
  }

  /** The softmax of the engine's scores. @param {number} [query] */
  shares(query = this.query) {
    return Array.from(softmax(Float64Array.from(this.scores(query)), (key) => this.allows(key, query), 1));
  }

  /** The engine's weights times its values, added up. */
  context() {
    return weighted(this.weights(), this.positions.map((key) => this.ofHead("value", key)));
  }

  /** The output of attention, and the residual: the block's input and the output. */
  residual() {
    const projection = this.linear(`${this.block}.attention.output`);
    const input = this.input();
    if (!projection || !input) return null;
    const output = affine(this.contexts(), projection);
    return { projection, output, input, sum: sum(input, output) };
  }

  /** The norm of the engine's residual. */
  norm() {
    const residual = this.ofPosition("residual");
    return residual && normOf(residual, this.facts.norm_eps, this.vector(`${this.block}.norm.gamma`) ?? undefined, this.vector(`${this.block}.norm.beta`) ?? undefined);
  }

  /** The feed-forward layer, from the norm to the block's output; null without one. */
  feedForward() {
    const name = `${this.block}.feed_forward`;
    const [first, second, input] = [this.linear(`${name}.hidden`), this.linear(`${name}.output`), this.norm()?.scaled];
    if (!first || !second || !input) return null;
    const hidden = affine(input, first).map((value) => Math.max(0, value));
    const output = affine(this.ofPosition("feed_forward_hidden") ?? hidden, second);
    const residual = sum(input, output);
    const norm = normOf(this.ofPosition("feed_forward_residual") ?? residual, this.facts.norm_eps, this.vector(`${name}.norm.gamma`) ?? undefined, this.vector(`${name}.norm.beta`) ?? undefined);
    return { input, hidden, output, residual, norm };
  }

  /** What the classifier reads, and what it makes of it. */
  classified() {
    const classifier = this.linear("classifier");
    const read = this.ofPosition("output", this.facts.cls, this.facts.layers - 1);
    return classifier && read && { classifier, read, logits: affine(read, classifier) };
  }

  /**
   * Whether a change of the reader takes effect in a computation of this layer, head and query.
   * @param {"input" | "softmax" | "context" | "residual" | "output"} where
   */
  isChanged(where) {
    const { heads = [], rows = [], patches = [] } = this.way.changes;
    const { layer, head, query } = this;
    const patched = (/** @type {string} */ place, /** @type {number} */ of) => patches.some((patch) => patch.place === place && patch.position === query && (place === "embeddings" || patch.layer === of));
    switch (where) {
      case "input": return layer === 0 ? patched("embeddings", 0) : patched("output", layer - 1);
      case "softmax": return rows.some((row) => row.layer === layer && row.head === head && row.query === query);
      case "context": return heads.some(([own, of]) => own === layer && of === head) || patched("context", layer);
      case "residual": return patched("residual", layer);
      default: return patched("output", layer);
    }
  }
}

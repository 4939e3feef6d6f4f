// The way of one sample through a model, a computation at a time. Each computation starts from the engine's own numbers
// before it, so that its result can be held against the engine's.

import { range, softmax } from "../model/numbers";
import { readoutOf } from "../model/readout";
import { ACTIVATIONS, placeOf, rotated } from "./functions";
import type { Arrays, Interventions, Config, Facts } from "../model/types";

type Parameter = { shape: number[]; values: Float32Array } | null;

interface Way {
  facts: Facts;
  tokens: number[];
  arrays: Arrays;
  /** Null where a page has no weights. */
  parameter: (name: string) => Parameter;
  row: (name: "scores" | "weights", layer: number, head: number, query: number) => ArrayLike<number>;
  allows: (query: number, key: number) => boolean;
  logits: number[];
  probabilities: number[];
  /** The reader's, which the arrays have. */
  changes: Interventions;
  layer: number;
  head: number;
  query: number;
}

export const product = (one: ArrayLike<number>, other: ArrayLike<number>) =>
  Array.from(one).reduce((total, value, at) => total + value * other[at], 0);

export const sum = (...vectors: ArrayLike<number>[]) =>
  Array.from(vectors[0], (_, at) => vectors.reduce((total, vector) => total + vector[at], 0));

/** Each vector times its weight, added up. */
const weighted = (weights: ArrayLike<number>, vectors: number[][]) =>
  vectors[0].map((_, at) => vectors.reduce((total, vector, index) => total + weights[index] * vector[at], 0));

/** The layer norm of a vector, step by step, or its RMS norm, whose mean counts as 0. `scaled` is null without weights. */
function normOf(vector: number[], eps: number, gamma?: number[] | null, beta?: number[] | null, isRms = false) {
  const mean = isRms ? 0 : vector.reduce((total, value) => total + value, 0) / vector.length;
  const variance = vector.reduce((total, value) => total + (value - mean) ** 2, 0) / vector.length;
  const even = vector.map((value) => (value - mean) / Math.sqrt(variance + eps));
  const scaled = gamma || beta ? even.map((value, at) => value * (gamma?.[at] ?? 1) + (beta?.[at] ?? 0)) : null;
  return { mean, variance, even, gamma, beta, scaled };
}

/** The probabilities that logits stand for: of one logit the sigmoid, else the softmax. */
export function chancesOf(logits: number[]) {
  if (logits.length === 1) return [1 / (1 + Math.exp(-logits[0]))];
  return Array.from(softmax(Float64Array.from(logits), () => true, 1));
}

/** The largest difference of two lists of numbers; NaN if a number is none. */
export const difference = (one: ArrayLike<number>, other: ArrayLike<number>) =>
  Math.max(0, ...Array.from(one, (value, at) => Math.abs(value - other[at])));

/** A matrix `[in, out]` of parameters, and its bias: zeros if it has none. */
export type Linear = { rows: number[][]; bias: number[]; hasBias: boolean };

const affine = (vector: ArrayLike<number>, { rows, bias }: Pick<Linear, "rows" | "bias">) =>
  bias.map((start, column) => rows.reduce((total, row, at) => total + vector[at] * row[column], start));

/** The parts of a model, as its config has them. */
function partsOf(model: Config) {
  const { rate = 1, softmax = true, log_length: isLong = false, padding_token: padding } = model.attention ?? {};
  const { positions = "learned" } = model;
  return {
    norm: (model.norm ?? "post") as "post" | "pre" | "none",
    isRms: model.norm_kind === "rms",
    hasGain: model.norm_gain !== false,
    hasShift: model.norm_bias ?? model.norm_kind !== "rms",
    hasFirstNorm: model.embedding_norm === true,
    hasLastNorm: model.final_norm ?? model.norm === "pre",
    activation: (model.activation ?? "relu") as keyof typeof ACTIVATIONS,
    positions: (positions === false ? "none" : positions === true ? "learned" : positions) as
      "learned" | "none" | "sinusoidal" | "rotary" | "first",
    rate,
    softmax,
    isLong,
    padding,
  };
}

export class Computation {
  facts = this.way.facts;
  layer = this.way.layer;
  head = this.way.head;
  query = this.way.query;
  positions = range(this.facts.positions);
  block = `blocks.${this.layer}`;
  /** Whether the model's weights are at hand: a recording has none. */
  hasWeights = this.way.parameter("token_embedding") !== null;
  factor = this.facts.factor / (this.way.changes.temperature ?? 1);
  parts = partsOf(this.facts.model ?? {});
  read = readoutOf(this.facts);

  constructor(readonly way: Way) {}

  // The engine's numbers.

  /** A vector of a head. */
  ofHead(name: "query" | "key" | "value" | "context", position: number, head = this.head) {
    const { heads, positions, d_head } = this.facts;
    const start = ((this.layer * heads + head) * positions + position) * d_head;
    return Array.from(this.way.arrays[name].subarray(start, start + d_head));
  }

  /** A vector of a position; null where there is no such array. */
  ofPosition(name: string, position = this.query, layer = this.layer): number[] | null {
    const array = this.way.arrays[name];
    const { layers, positions } = this.facts;
    if (!array?.length) return null;
    const width = array.length / positions / (name === "embeddings" ? 1 : layers);
    const start = ((name === "embeddings" ? 0 : layer * positions) + position) * width;
    return Array.from(array.subarray(start, start + width));
  }

  /** What a layer takes from before. */
  input(position = this.query, layer = this.layer) {
    return layer === 0 ? this.ofPosition("embeddings", position) : this.ofPosition("output", position, layer - 1);
  }

  scores(query = this.query) {
    return Array.from(this.way.row("scores", this.layer, this.head, query));
  }
  weights(query = this.query) {
    return Array.from(this.way.row("weights", this.layer, this.head, query));
  }

  /** The contexts of all heads, one after the other. */
  contexts() {
    return range(this.facts.heads).flatMap((head) => this.ofHead("context", this.query, head));
  }

  // The model's weights.

  vector(name: string): number[] | null {
    const found = this.way.parameter(name);
    return found && Array.from(found.values);
  }

  /** A row of an embedding. */
  rowOf(name: string, index: number): number[] | null {
    const found = this.way.parameter(name);
    if (!found) return null;
    const width = found.shape[1];
    return Array.from(found.values.subarray(index * width, (index + 1) * width));
  }

  /** @param first the first column @param count of columns */
  linear(name: string, first = 0, count?: number): Linear | null {
    const weight = this.way.parameter(`${name}.weight`);
    if (!weight) return null;
    const bias = this.vector(`${name}.bias`);
    const [inputs, outputs] = weight.shape;
    const columns = range(count ?? outputs).map((column) => first + column);
    return {
      hasBias: bias !== null,
      rows: range(inputs).map((row) => columns.map((column) => weight.values[row * outputs + column])),
      bias: columns.map((column) => bias?.[column] ?? 0),
    };
  }

  /** The projection of this head; null if the model has none. */
  projection(kind: "query" | "key" | "value") {
    const { d_head } = this.facts;
    // A shared projection gives all three.
    return (
      this.linear(`${this.block}.attention.${kind}`, this.head * d_head, d_head) ??
      this.linear(`${this.block}.attention.shared`, this.head * d_head, d_head)
    );
  }

  // The computations. What needs weights is null without them.

  /** The norm with the parameters of a name. */
  normed(vector: number[], name: string) {
    const { eps, isRms } = { eps: this.facts.norm_eps, isRms: this.parts.isRms };
    const found = normOf(vector, eps, this.vector(`${name}.gamma`), this.vector(`${name}.beta`), isRms);
    // A norm may learn nothing.
    return this.hasWeights ? { ...found, scaled: found.scaled ?? found.even } : found;
  }

  /** The vectors of a token and of its position, and their sum, normalised if the model does so. A model may have none of positions. */
  embedding(position = this.query) {
    const token = this.rowOf("token_embedding", this.way.tokens[position]);
    if (!token) return null;
    const { positions, hasFirstNorm } = this.parts;
    const rows = this.way.parameter("position_embedding")?.shape[0] ?? 0;
    // Positions may share a vector from one on.
    const place = rows
      ? this.rowOf("position_embedding", Math.min(position, rows - 1))
      : placeOf(positions, position, token.length);
    const total = place ? sum(token, place) : token;
    const norm = hasFirstNorm ? this.normed(total, "embedding_norm") : null;
    return { token, place, sum: total, norm, input: norm?.scaled ?? total };
  }

  /** The norm before attention; null if the model has none there. */
  firstNorm(position = this.query) {
    const input = this.input(position);
    return input && this.parts.norm === "pre" && this.hasWeights ? this.normed(input, `${this.block}.norm`) : null;
  }

  /** What queries, keys and values are made of. */
  source(position = this.query) {
    return this.firstNorm(position)?.scaled ?? this.input(position);
  }

  projected(kind: "query" | "key" | "value", position = this.query): number[] | null {
    const source = this.hasWeights ? this.source(position) : null;
    if (!source) return null;
    const projection = this.projection(kind);
    const { d_head } = this.facts;
    const found = projection ? affine(source, projection) : source.slice(this.head * d_head, (this.head + 1) * d_head);
    return this.parts.positions === "rotary" && kind !== "value" ? rotated(found, position) : found;
  }

  /** The query's product with each key. */
  products(query = this.query) {
    const vector = this.ofHead("query", query);
    return this.positions.map((key) => product(vector, this.ofHead("key", key)));
  }

  /** What products are multiplied by: the factor, and the logarithm of the number of keys if the model has it. */
  scaleOf(query = this.query) {
    const count = this.positions.filter((key) => this.allows(key, query)).length;
    return this.factor * (this.parts.isLong ? Math.log(Math.max(count, 1)) : 1);
  }

  allows(key: number, query = this.query) {
    return this.way.allows(query, key) && !this.way.changes.keys?.includes(key);
  }

  /** The softmax of the engine's scores. */
  shares(query = this.query) {
    return Array.from(softmax(Float64Array.from(this.scores(query)), (key) => this.allows(key, query), 1));
  }

  /** The weights that the engine's scores give. */
  mixed(query = this.query) {
    const { rate, softmax } = this.parts;
    const parts = softmax ? this.shares(query) : this.scores(query);
    return parts.map((part, key) => (this.allows(key, query) ? (softmax ? rate * part + 1 - rate : part) : 0));
  }

  /** The engine's weights times its values, added up. */
  context() {
    return weighted(
      this.weights(),
      this.positions.map((key) => this.ofHead("value", key)),
    );
  }

  /** The output of attention, and the residual: the layer's input and the output. */
  residual() {
    const projection = this.linear(`${this.block}.attention.output`);
    const input = this.input();
    if (!this.hasWeights || !input) return null;
    const output = projection ? affine(this.contexts(), projection) : this.contexts();
    return { projection, output, input, sum: sum(input, output) };
  }

  /** The norm of the engine's residual; null if the model has none there. */
  norm() {
    const residual = this.ofPosition("residual");
    return residual && this.parts.norm === "post" ? this.normed(residual, `${this.block}.norm`) : null;
  }

  /** The feed-forward layer, from its input to the layer's output; null without one. `before` and `norm` are the norms before and after it. */
  feedForward() {
    const name = `${this.block}.feed_forward`;
    const { norm: place, activation } = this.parts;
    const [first, second] = [this.linear(`${name}.hidden`), this.linear(`${name}.output`)];
    const input = place === "post" ? this.norm()?.scaled : this.ofPosition("residual");
    if (!first || !second || !input) return null;
    const before = place === "pre" ? this.normed(input, `${name}.norm`) : null;
    const hidden = affine(before?.scaled ?? input, first).map(ACTIVATIONS[activation].of);
    const output = affine(this.ofPosition("feed_forward_hidden") ?? hidden, second);
    const residual = sum(input, output);
    const norm =
      place === "post" ? this.normed(this.ofPosition("feed_forward_residual") ?? residual, `${name}.norm`) : null;
    return { input, before, first, hidden, second, output, residual, norm, block: norm?.scaled ?? residual };
  }

  /** What the classifier reads, and what it makes of it: `output` is the last layer's, of the readout position or the mean over all. */
  classified() {
    const last = this.facts.layers - 1;
    const { readout, readsMean } = this.read;
    if (!this.hasWeights) return null;
    const isRead = (position: number) =>
      readsMean ? this.way.tokens[position] !== this.parts.padding : position === readout;
    const outputs = this.positions.filter(isRead).map((position) => this.ofPosition("output", position, last) ?? []);
    if (!outputs[0]?.length) return null;
    const mean = (rows: number[][]) => weighted(Array(rows.length).fill(1 / rows.length), rows);
    const output = mean(outputs);
    const norm = this.parts.hasLastNorm
      ? mean(outputs.map((row) => this.normed(row, "final_norm").scaled ?? row))
      : null;
    const first = this.linear("classifier.hidden");
    const hidden = first && affine(norm ?? output, first).map(ACTIVATIONS[this.parts.activation].of);
    const classifier = this.linear("classifier") ?? this.#tied();
    const found = hidden ?? norm ?? output;
    return classifier && { classifier, output, norm, hidden, read: found, logits: affine(found, classifier) };
  }

  /** A classifier whose matrix is the token embedding's. */
  #tied(): Linear | null {
    const tokens = this.way.parameter("token_embedding");
    if (!tokens) return null;
    const [count, width] = tokens.shape;
    const bias = this.vector("classifier.bias");
    return {
      hasBias: bias !== null,
      bias: bias ?? Array(count).fill(0),
      rows: range(width).map((row) => range(count).map((token) => tokens.values[token * width + row])),
    };
  }

  /** Whether a change of the reader takes effect in a computation of this layer, head and query. */
  isChanged(where: "input" | "softmax" | "context" | "residual" | "output") {
    const { heads = [], rows = [], patches = [] } = this.way.changes;
    const { layer, head, query } = this;
    const patched = (place: string, of: number) =>
      patches.some((patch) => patch.place === place && patch.position === query && patch.layer === of);
    if (where === "softmax") return rows.some((row) => row.layer === layer && row.head === head && row.query === query);
    if (where === "input") return layer === 0 ? patched("embeddings", 0) : patched("output", layer - 1);
    return patched(where, layer) || (where === "context" && heads.some(([own, of]) => own === layer && of === head));
  }
}

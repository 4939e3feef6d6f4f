// Attention of an example over tokens that the reader chooses: each has the vectors that it has in the example.

import { softmax } from "../numbers.js";
import { product, weighted } from "../parts/computation.js";
import { numbersOf } from "./stages.js";

/** @typedef {import("./stages.js").Case} Case */
/** @typedef {{ names: string[], vectors: number[][] }} Side */

/** @param {Case} example @param {string} name @returns {Side | null} */
function side(example, name) {
  const found = numbersOf(example, name);
  return found ? { names: found.rows, vectors: /** @type {number[][]} */ (found.values) } : null;
}

/** @param {Side} from @param {Case} example @param {string} name of a projection @returns {Side} */
function projected(from, example, name) {
  const matrix = numbersOf(example, name)?.values;
  return matrix ? { names: from.names, vectors: from.vectors.map((vector) => weighted(vector, /** @type {number[][]} */ (matrix))) } : from;
}

/** What an example needs to attend to other tokens; null if it gives its weights. @param {Case} example */
export function attending(example) {
  const x = side(example, "x");
  const memory = side(example, "memory");
  const from = memory ?? x;
  const query = x ? projected(x, example, "w_query") : side(example, "query");
  const key = from ? projected(from, example, "w_key") : side(example, "key");
  const value = from ? projected(from, example, "w_value") : side(example, "value");
  const scores = numbersOf(example, "scores");
  if (!scores) return null;
  const queries = query?.names ?? scores.rows;
  const keys = key?.names ?? scores.columns;
  // Where queries and keys are of different tokens, a reader types the keys.
  const isCross = memory !== null || keys.length < queries.length || !queries.every((token) => keys.includes(token));
  /** @param {string} one @param {string} other @returns {number | null} the product of a query and a key */
  const scoreOf = (one, other) => {
    const [row, column] = [queries.indexOf(one), keys.indexOf(other)];
    if (row < 0 || column < 0) return null;
    return query && key ? product(query.vectors[row], key.vectors[column]) : scores.values[row][column];
  };
  return { queries, keys, isCross, scoreOf, valueOf: (/** @type {string} */ token) => value?.vectors[value.names.indexOf(token)] ?? null, factor: example.factor * example.temperature, temperature: example.temperature, ...maskOf(example) };
}

/** Whether an example has a causal mask, or another one, which belongs to its positions. @param {Case} example */
function maskOf(example) {
  const masked = numbersOf(example, "masked");
  const isCausal = masked !== undefined && masked.rows.length === masked.columns.length && masked.values.every((row, query) => row.every((value, key) => (value === null) === key > query));
  return { isCausal, hasOtherMask: masked !== undefined && !isCausal };
}

/** @typedef {NonNullable<ReturnType<typeof attending>>} Attending */

/** The tokens of a text. Throws an error with a sentence if the example has no such token. @param {Attending} attending @param {string} text @returns {string[]} */
export function tokensOf({ keys: known }, text) {
  const separator = known.some((token) => /\s/.test(token)) ? /\s*,\s*/ : known.some((token) => token.includes(",")) ? /\s+/ : /[\s,]+/;
  const words = text.trim().split(separator).filter(Boolean);
  if (!words.length) throw new Error("Type at least one token.");
  if (words.length > 24) throw new Error(`These are ${words.length} tokens; there is room for 24 at most.`);
  return words.map((word) => {
    const token = known.find((name) => name === word) ?? known.find((name) => name.toLowerCase() === word.toLowerCase());
    if (token === undefined) throw new Error(`“${word.slice(0, 30)}” is not a token of this example, which has vectors for ${[...new Set(known)].map((name) => `“${name}”`).join(", ")} alone.`);
    return token;
  });
}

/** The tokens whose queries look. @param {Attending} attending @param {string[]} tokens that the reader typed */
export const lookers = ({ isCross, queries }, tokens) => isCross ? queries : tokens;

/** The weights of one query on the tokens, and its output if the example has values; null if it has no such query. @param {Attending} attending @param {string[]} tokens @param {number} query @param {number} temperature @param {boolean} causal */
export function attend(attending, tokens, query, temperature, causal) {
  const { scoreOf, valueOf, factor, isCross } = attending;
  const scores = tokens.map((key) => scoreOf(lookers(attending, tokens)[query], key));
  if (scores.some((score) => score === null)) return null;
  const allowed = tokens.map((_, key) => !causal || isCross || key <= query);
  const weights = Array.from(softmax(Float64Array.from(scores, (score) => Number(score) * factor / temperature), (key) => allowed[key], 1));
  const values = tokens.map(valueOf);
  const output = values.every((value) => value !== null) ? weighted(weights, /** @type {number[][]} */ (values)) : null;
  return { weights, output, allowed };
}

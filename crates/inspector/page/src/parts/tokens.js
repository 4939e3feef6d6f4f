// Tokens that a reader types.

import { shorten } from "../numbers.js";

/** @typedef {import("../run.js").Run} Run */

/** @type {WeakMap<object, Map<string, number>>} */
const numbers = new WeakMap();

/** The token of a word: its number, or the word that stands for it. Throws an error with a sentence if it is none. @param {Run} run @param {string} word */
export function tokenOf(run, word) {
  const { token_strings: strings } = run.facts;
  if (!numbers.has(strings)) numbers.set(strings, new Map(Object.entries(strings).map(([token, text]) => [text, Number(token)])));
  const known = numbers.get(strings)?.get(word);
  if (known === undefined && !/^\d{1,9}$/.test(word)) throw new Error(`“${shorten(word, 20)}” is no token; tokens are whole numbers`);
  const token = known ?? Number(word);
  if (token === 0) throw new Error("0 is [CLS], which the page adds itself");
  return token;
}

/** The tokens of a text, without [CLS]. @param {Run} run @param {string} text */
export function tokensOf(run, text) {
  return text.split(/[\s,;]+/).filter((word) => word !== "" && word !== "[CLS]").map((word) => tokenOf(run, word));
}

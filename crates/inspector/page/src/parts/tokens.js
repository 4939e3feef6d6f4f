// Tokens that a reader types: numbers, or words of the run's vocabulary.

import { shorten } from "../numbers.js";
import { UNKNOWN } from "../words.js";

/** @typedef {import("../run.js").Run} Run */

// What a word is, as in `crates/data/src/words/text.rs`.
const WORD = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_\u200C\u200D]*(?:['’][\p{L}\p{M}\p{N}_]+)*|[\p{P}\p{S}]\p{M}*/gu;

/** @type {WeakMap<object, Map<string, number>>} */
const numbers = new WeakMap();

/** The token of a word: its number, or the word that stands for it. Throws an error with a sentence if it is none. @param {Run} run @param {string} word */
export function tokenOf(run, word) {
  const { token_strings: strings } = run.facts;
  if (!numbers.has(strings)) numbers.set(strings, new Map(Object.entries(strings).map(([token, text]) => [text, Number(token)])));
  const known = numbers.get(strings)?.get(word) ?? numbers.get(strings)?.get(lowered(run, word));
  if (known === undefined && run.words) return UNKNOWN;
  if (known === undefined && !/^\d{1,9}$/.test(word)) throw new Error(`“${shorten(word, 20)}” is not a token; use a whole number`);
  const token = known ?? Number(word);
  if (token === 0) throw new Error("0 is [CLS], which the page adds itself");
  return token;
}

/** The tokens of a text, without [CLS]. Of a text that is too long, those that the model takes. @param {Run} run @param {string} text */
export function tokensOf(run, text) {
  if (run.words) {
    const words = lowered(run, text.replace(/\[(CLS|PAD|UNK)\]/g, (special) => special === "[UNK]" ? "\u{fffd}" : " ")).match(WORD) ?? [];
    return (words.length ? words : [""]).slice(0, run.positions - 1).map((word) => tokenOf(run, word));
  }
  return text.split(/[\s,;]+/).filter((word) => word !== "" && word !== "[CLS]").map((word) => tokenOf(run, word));
}

/** A text as the vocabulary has it. Each character is changed by itself. @param {Run} run @param {string} text */
const lowered = (run, text) => run.words?.lowercase === false || !run.words ? text : Array.from(text, (letter) => letter.toLowerCase()).join("");

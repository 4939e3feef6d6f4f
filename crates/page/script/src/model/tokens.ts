// Tokens that a reader types: numbers, or words of the run's vocabulary.

import { shorten } from "./numbers";
import { UNKNOWN } from "./words";
import type { Run } from "./run";

// What a word is, as in `crates/data/src/words/text.rs`.
const WORD = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_\u200C\u200D]*(?:['’][\p{L}\p{M}\p{N}_]+)*|[\p{P}\p{S}]\p{M}*/gu;

const numbers = new WeakMap<object, Map<string, number>>();

/** The token of a word: its number, or the word that stands for it. Throws an error with a sentence if it is none. */
export function tokenOf(run: Run, word: string) {
  const { token_strings: strings } = run.facts;
  // Of two words that are the same one, the first.
  const own = () => Object.entries(strings).reverse();
  if (!numbers.has(strings)) numbers.set(strings, new Map(own().map(([token, text]) => [plain(text), Number(token)])));
  const known = numbers.get(strings)?.get(plain(word)) ?? numbers.get(strings)?.get(lowered(run, plain(word)));
  if (known === undefined && run.words) return UNKNOWN;
  if (known === undefined && !/^\d{1,9}$/.test(word))
    throw new Error(`“${shorten(word, 20)}” is not a token; use a whole number`);
  const token = known ?? Number(word);
  if (token < run.firstToken) throw new Error("0 is [CLS], which the page adds itself");
  return token;
}

/** A text as tokens without [CLS], of each unknown one the word, and the words that the model has no place for. */
export function tokensOf(run: Run, text: string) {
  if (!run.words)
    return {
      tokens: text
        .split(/[\s,;]+/)
        .filter((word) => word !== "" && word !== "[CLS]")
        .map((word) => tokenOf(run, word)),
      typed: [],
      left: [],
    };
  const isOfCharacters = run.words.level === "character";
  const known = text
    .normalize("NFC")
    .replace(/\[(CLS|PAD|UNK)\]/g, (special) => (special === "[UNK]" ? "\u{fffd}" : isOfCharacters ? "" : " "));
  const words = run.features
    ? known.split(",").map((value, at) => inColumn(value.trim(), at < run.tokenCount ? `${run.features?.[at]}=` : ""))
    : isOfCharacters
      ? Array.from(known)
      : (known.match(WORD) ?? [""]);
  const taken = words.slice(0, run.tokenCount);
  const tokens = taken.map((word) => tokenOf(run, word));
  return { tokens, typed: taken.map((word, at) => typedOf(run, tokens[at], word)), left: words.slice(taken.length) };
}

/** A value with its column's name; 3.0 is 3. */
const inColumn = (value: string, name: string) =>
  value.startsWith(name) ? value : name + value.replace(/^([+-]?\d+)\.0*$/, "$1");

/** What the reader typed for an unknown token; empty for others. */
export const typedOf = (run: Run, token: number, word: string) =>
  run.words && token === UNKNOWN && word !== "[UNK]" && word !== "\u{fffd}" ? word : "";

/** A text with composed letters and one kind of apostrophe: telephones type another than most texts have. */
const plain = (text: string) => text.normalize("NFC").replaceAll("’", "'");

/** A text as the vocabulary has it. Each character is changed by itself. */
const lowered = (run: Run, text: string) =>
  run.words?.lowercase === false || !run.words ? text : Array.from(text, (letter) => letter.toLowerCase()).join("");

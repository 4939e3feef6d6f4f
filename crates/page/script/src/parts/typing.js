// Samples that a reader types: what becomes the shown sample, and why it cannot.

import { effect, signal } from "@preact/signals";
import { shorten } from "../numbers.js";
import { base } from "../state.js";
import { change } from "../view.js";
import { key, run } from "./shown-sample.js";
import { tokensOf } from "./tokens.js";

/** Why the tokens that the reader typed are no sample; it says nothing about the next one. */
export const said = signal("");
/** What she typed that the shown sample has no place for, as a sentence. */
export const cut = signal("");
effect(() => {
  void key.value;
  void base.value;
  said.value = cut.value = "";
});

/** What an attempt gives; if it fails, its sentence is said. @template T @param {() => T} attempt */
export function told(attempt) {
  try {
    return attempt();
  } catch (error) {
    said.value = `${/** @type {Error} */ (error).message}.`;
    return null;
  }
}

/** Shows the sample of these tokens. @param {number[]} tokens without [CLS] @param {string[]} typed of each unknown token the word */
export function showOwn(tokens, typed) {
  const now = run.peek();
  if (!now) return false;
  return (
    told(() => {
      const own = now.own(tokens, typed);
      const same = typed.some(Boolean)
        ? undefined
        : now.samples.find((sample) => String(sample.tokens) === String(own.tokens));
      const sample = same?.key ?? own.key;
      said.value = cut.value = "";
      if (sample !== key.peek()) change({ sample });
      return true;
    }) ?? false
  );
}

/** Shows the sample of a whole text. @param {string} text */
export function takeText(text) {
  const now = run.peek();
  if (!now) return;
  if (!text.trim()) {
    said.value = `Type at least one ${now.unit}.`;
    return;
  }
  told(() => {
    const { tokens, typed, left } = tokensOf(now, text);
    if (showOwn(tokens, typed) && left.length)
      cut.value = `The model takes ${now.tokenCount} ${now.unit}s. It does not see the rest: ${shorten(now.joined(left), 60)}`;
  });
}

// Samples that a reader types: what becomes the shown sample, and why it cannot.

import { effect, signal } from "@preact/signals";
import { shorten } from "../model/numbers";
import { base } from "./state";
import { change } from "./view";
import { key, run } from "./sample";
import { tokensOf } from "../model/tokens";

/** Why the tokens that the reader typed are no sample; it says nothing about the next one. */
export const said = signal("");
/** What she typed that the shown sample has no place for, as a sentence. */
export const cut = signal("");
effect(() => {
  void key.value;
  void base.value;
  said.value = cut.value = "";
});

/** What an attempt gives; if it fails, its sentence is said. */
export function told<T>(attempt: () => T) {
  try {
    return attempt();
  } catch (error) {
    said.value = `${(error as Error).message}.`;
    return null;
  }
}

/** Shows the sample of these tokens. @param tokens without [CLS] @param typed of each unknown token the word */
export function showOwn(tokens: number[], typed: string[]) {
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

/** Shows the sample of a whole text. */
export function takeText(text: string) {
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

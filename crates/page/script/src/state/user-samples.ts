// Samples that a reader types: what becomes the shown sample, and why it cannot.

import { effect, signal } from "@preact/signals";
import { shorten } from "../model/numbers";
import { baseRun, shownRun } from "./state";
import { change } from "./view";
import { tokensOf } from "../model/tokens";
import { currentSampleKey } from "./current";

/** Why the tokens that the reader typed are no sample; it says nothing about the next one. */
export const inputError = signal("");
/** What she typed that the shown sample has no place for, as a sentence. */
export const cut = signal("");
effect(() => {
  void currentSampleKey.value;
  void baseRun.value;
  inputError.value = cut.value = "";
});

/** What an attempt gives; if it fails, its sentence becomes `inputError`. */
export function withInputError<T>(attempt: () => T) {
  try {
    return attempt();
  } catch (error) {
    inputError.value = `${(error as Error).message}.`;
    return null;
  }
}

/** Shows the sample of these tokens. @param tokens without [CLS] @param typed of each unknown token the word */
export function showUserSample(tokens: number[], typed: string[]) {
  const now = shownRun.peek();
  if (!now) return false;
  return (
    withInputError(() => {
      const own = now.own(tokens, typed);
      const same = typed.some(Boolean)
        ? undefined
        : now.samples.find((sample) => String(sample.tokens) === String(own.tokens));
      const sample = same?.key ?? own.key;
      inputError.value = cut.value = "";
      if (sample !== currentSampleKey.peek()) change({ sample });
      return true;
    }) ?? false
  );
}

/** Shows the sample of a whole text. */
export function showText(text: string) {
  const now = shownRun.peek();
  if (!now) return;
  if (!text.trim()) {
    inputError.value = `Type at least one ${now.unit}.`;
    return;
  }
  withInputError(() => {
    const { tokens, typed, left } = tokensOf(now, text);
    if (showUserSample(tokens, typed) && left.length)
      cut.value = `The model takes ${now.tokenCount} ${now.unit}s. It does not see the rest: ${shorten(now.joined(left), 60)}`;
  });
}

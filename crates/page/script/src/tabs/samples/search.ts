// The search for samples: by their number, or by tokens that follow each other.

import type { Sample } from "../../model/types";

/** The words of a text: what spaces, commas and semicolons separate. */
export function wordsOf(text: string) {
  const lower = text.trim().toLowerCase();
  const words = lower.split(/[\s,;]+/).filter(Boolean);
  return words.length || !lower ? words : [lower];
}

/** Whether words follow each other in a list. */
const hasRun = (list: string[], words: string[]) =>
  list.some((_, start) => words.every((word, at) => list[start + at] === word));

/**
 * Whether whole tokens of a sample, by number or by name, are those of the search, in its order; or its number is.
 * @param names of its tokens
 */
export function matches({ number, tokens }: Pick<Sample, "number" | "tokens">, names: string[], words: string[]) {
  if (!words.length || (words.length === 1 && words[0] === String(number))) return true;
  return hasRun(tokens.map(String), words) || hasRun(names.flatMap(wordsOf), words);
}

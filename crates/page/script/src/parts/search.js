// The search for samples: by their number, or by tokens that follow each other.

/** The words of a text: what spaces, commas and semicolons separate. @param {string} text */
export function wordsOf(text) {
  const lower = text.trim().toLowerCase();
  const words = lower.split(/[\s,;]+/).filter(Boolean);
  return words.length || !lower ? words : [lower];
}

/** Whether words follow each other in a list. @param {string[]} list @param {string[]} words */
const hasRun = (list, words) => list.some((_, start) => words.every((word, at) => list[start + at] === word));

/**
 * Whether whole tokens of a sample, by number or by name, are those of the search, in its order; or its number is.
 * @param {{ number: number | null, tokens: number[] }} sample @param {string[]} names of its tokens @param {string[]} words
 */
export function matches({ number, tokens }, names, words) {
  if (!words.length || (words.length === 1 && words[0] === String(number))) return true;
  return hasRun(tokens.map(String), words) || hasRun(names.flatMap(wordsOf), words);
}

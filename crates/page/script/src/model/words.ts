// The words of a run, whose vocabulary its config holds (`crates/data/src/words`).

export type Words = { level?: "word" | "character"; lowercase?: boolean; vocabulary: string[] };

/** The token of a word that the vocabulary lacks. */
export const UNKNOWN = 2;
const FIRST_WORD = 3;

/** The texts of all tokens. */
export function textsOf({ vocabulary }: Words): Record<number, string> {
  return Object.fromEntries([
    [1, "[PAD]"],
    [UNKNOWN, "[UNK]"],
    ...vocabulary.map((word, index) => [FIRST_WORD + index, word]),
  ]);
}

// The reader's guess at where the model looks. Until there is one, the page hides the answer.

import { signal } from "@preact/signals";

/** Whether the guide asks for a guess. */
export const awaitsGuess = signal(false);
/** The position that the reader chose; null before. */
export const guess = signal<number | null>(null);

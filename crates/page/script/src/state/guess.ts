// The reader's guess at where the model looks. Until there is one, the page hides the answer.

import { signal, type Signal } from "@preact/signals";

/** Whether the guide asks for a guess. */
export const awaitsGuess = signal(false);
/** The position that the reader chose; null before. */
export const guess: Signal<number | null> = signal(null as number | null);

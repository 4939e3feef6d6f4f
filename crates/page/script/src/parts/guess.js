// The reader's guess at where the model looks. Until there is one, the page hides the answer.

import { signal } from "@preact/signals";

/** Whether the guide asks for a guess. */
export const isAsked = signal(false);
/** The position that the reader chose; null before. @type {import("@preact/signals").Signal<number | null>} */
export const guess = signal(/** @type {number | null} */ (null));

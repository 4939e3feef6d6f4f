// The position that a model's class is read from.

import type { Facts } from "./types";

/** Where [CLS] stands, -1 without it; the position that the class is read from, or, if it is read from the mean of all, that whose attention is shown; and what sentences call that position and what is read. */
export function readerOf({ cls: own, read, positions, model }: Pick<Facts, "cls" | "read" | "positions" | "model">) {
  const cls = own ?? -1;
  const reader = read ?? Math.max(cls, 0);
  const readsMean = model?.pooling === "mean";
  const readerName = reader === cls ? "[CLS]" : reader === positions - 1 ? "the last position" : `position ${reader}`;
  return { cls, reader, readerName, readsMean, readName: readsMean ? "the mean over positions" : readerName };
}

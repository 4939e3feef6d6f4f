// The readout position: where a model's class is read.

import type { Facts } from "./types";

/** Where [CLS] stands, -1 without it; the readout position or, if the class is read from the mean of all, the position whose attention is shown; and what sentences call that position and what is read. */
export function readoutOf({ cls: own, read, positions, model }: Pick<Facts, "cls" | "read" | "positions" | "model">) {
  const cls = own ?? -1;
  const readout = read ?? Math.max(cls, 0);
  const readsMean = model?.pooling === "mean";
  const readoutName =
    readout === cls ? "[CLS]" : readout === positions - 1 ? "the last position" : `position ${readout}`;
  return { cls, readout, readoutName, readsMean, readName: readsMean ? "the mean over positions" : readoutName };
}

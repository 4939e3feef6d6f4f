// Changes in the computation of the trained model, as a reader makes them.

import { change, view } from "../view.js";

/** Puts changes in the place of others of the same kind; empty ones go. @param {Changes} parts */
export function setChanges(parts) {
  const changes = Object.fromEntries(
    Object.entries({ ...view.value.changes, ...parts }).filter(([, value]) =>
      Array.isArray(value) ? value.length : value !== undefined && value !== false,
    ),
  );
  change({ changes });
}

/** Lets no query look at a position, or all again. @param {number} position */
export function toggleKey(position) {
  const { keys = [] } = view.value.changes;
  setChanges({ keys: keys.includes(position) ? keys.filter((key) => key !== position) : [...keys, position] });
}

/** Whether the reader has switched a head off. @param {number} layer @param {number} head */
export const isOff = (layer, head) =>
  (view.value.changes.heads ?? []).some(([one, other]) => one === layer && other === head);

/** Switches a head off, or on again. @param {number} layer @param {number} head */
export function toggleHead(layer, head) {
  const { heads = [] } = view.value.changes;
  setChanges({
    heads: isOff(layer, head)
      ? heads.filter(([one, other]) => one !== layer || other !== head)
      : [...heads, [layer, head]],
  });
}

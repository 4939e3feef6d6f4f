// Interventions in the forward pass of the trained model, as a reader makes them.

import { change, view } from "./view";
import type { Interventions } from "../model/types";

/** Puts changes in the place of others of the same kind; empty ones go. */
export function setInterventions(parts: Interventions) {
  const changes = Object.fromEntries(
    Object.entries({ ...view.value.changes, ...parts }).filter(([, value]) =>
      Array.isArray(value) ? value.length : value !== undefined && value !== false,
    ),
  );
  change({ changes });
}

/** Lets no query look at a position, or all again. */
export function toggleKey(position: number) {
  const { keys = [] } = view.value.changes;
  setInterventions({ keys: keys.includes(position) ? keys.filter((key) => key !== position) : [...keys, position] });
}

/** Whether the reader has switched a head off. */
export const isOff = (layer: number, head: number) =>
  (view.value.changes.heads ?? []).some(([one, other]) => one === layer && other === head);

/** Switches a head off, or on again. */
export function toggleHead(layer: number, head: number) {
  const { heads = [] } = view.value.changes;
  setInterventions({
    heads: isOff(layer, head)
      ? heads.filter(([one, other]) => one !== layer || other !== head)
      : [...heads, [layer, head]],
  });
}

// The view: what the page shows, and its address. A view is never changed: `change` puts another in its place.

import { signal } from "@preact/signals";
import { savedPage } from "../model/facts";
import type { Interventions, View } from "../model/types";

/** What a reader has not chosen is infinite or empty: `current` then takes what suits the run. */
export const FIRST: View = {
  run: 0,
  sample: "",
  step: Infinity,
  query: Infinity,
  key: Infinity,
  layer: Infinity,
  head: Infinity,
  show: "weights",
  range: "",
  pin: null,
  tab: "explore",
  guide: 0,
  stage: 1,
  word: "",
  changes: {},
  settings: {},
};

// Another question, another model: what was chosen of the old one says nothing about it.
const OF_A_MODEL = ["step", "query", "key", "layer", "head"] as const;
const unchosen = Object.fromEntries(OF_A_MODEL.map((name) => [name, FIRST[name]]));

// A saved page opens on the view that it was saved with.
if (savedPage.view && !location.hash) write("replaceState", savedPage.view);

export const view = signal(FIRST);

// A change of these is a step that the back button takes back; all others leave no trace in the history.
const KEPT = new Set(["run", "sample", "show", "pin", "tab", "guide", "word", "changes", "settings"]);

/** Changes the view. */
export function change(parts: Partial<View>) {
  const keep = Object.entries(parts).some(
    ([name, value]) => KEPT.has(name) && value !== view.value[name as keyof View],
  );
  const isOther = parts.settings && JSON.stringify(parts.settings) !== JSON.stringify(view.value.settings);
  view.value = { ...view.value, ...(isOther ? unchosen : {}), ...parts };
  write(keep ? "pushState" : "replaceState", address(view.value));
}

function write(how: "pushState" | "replaceState", address: string) {
  try {
    history[how](null, "", address);
  } catch {
    // A page within another has no address of its own.
  }
}

/** Changes what moves: nothing but the view, since browsers limit how often the address may change. */
export function changeSoon(parts: Partial<View>) {
  view.value = { ...view.value, ...parts };
}

/** Writes the address of a view that `changeSoon` made. */
export function settleAddress() {
  if (location.hash !== address(view.value)) write("replaceState", address(view.value));
}

export function address({ pin, changes, settings, ...simple }: View) {
  const parts: Record<string, string> = {};
  for (const [name, value] of Object.entries(simple))
    if (name === "show" || value !== FIRST[name as keyof View]) parts[name] = String(value);
  if (pin) parts.pin = JSON.stringify(pin);
  if (Object.keys(changes).length) parts.changes = JSON.stringify(changes);
  if (Object.keys(settings).length) parts.set = JSON.stringify(settings);
  return `#${new URLSearchParams(parts)}`;
}

/** What an address says: only parts that can be. */
export function readAddress(hash = location.hash || savedPage.view || ""): Partial<View> {
  const parts = new URLSearchParams(hash.slice(1));
  const found: Partial<View> = {};
  for (const name of [...OF_A_MODEL, "run", "guide", "stage"] as const) {
    const value = Number(parts.get(name) ?? NaN);
    if (isCount(value)) found[name] = value;
  }
  const show = parts.get("show");
  if (show === "weights" || show === "scores") found.show = show;
  const range = parts.get("range");
  if (range === "unit" || range === "uniform" || range === "own") found.range = range;
  for (const name of ["sample", "word", "tab"] as const) {
    const text = parts.get(name);
    if (text) found[name] = text;
  }
  found.pin = pinOf(objectOf(parts.get("pin")));
  found.changes = checkedChanges(objectOf(parts.get("changes")));
  found.settings = checkedSettings(objectOf(parts.get("set")));
  return found;
}

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

const isObject = (value: unknown): value is Record<string, any> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function objectOf(text: string | null): Record<string, any> {
  try {
    const value = JSON.parse(text ?? "{}");
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

// Only these: a path such as `constructor.prototype` would lead out of the config.
const SETTING =
  /^(seed|(data|training|dump|compute)\.[a-z][a-z_\d]*|model\.((attention|init|init\.std)\.)?[a-z][a-z_\d]*)$/;

/** Only settings of keys that a config can have; null unsets one. */
const checkedSettings = (wanted: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(wanted).filter(
      ([key, value]) => SETTING.test(key) && key !== "model.attention" && key !== "model.init",
    ),
  );

function pinOf({ sample, step, run = 0, settings = {}, changes = {} }: Record<string, any>): View["pin"] {
  if (!sample || ![step, run].every(isCount) || ![settings, changes].every(isObject)) return null;
  return { sample: String(sample), step, run, settings: checkedSettings(settings), changes: checkedChanges(changes) };
}

/** Only changes that can be. */
function checkedChanges({ heads, keys, rows, patches, temperature = 1, causal }: any): Interventions {
  const changes: Interventions = {};
  const has = (one: any, ...names: string[]) => names.every((name) => isCount(one?.[name]));
  if (Array.isArray(heads))
    changes.heads = heads.filter((head) => Array.isArray(head) && head.length === 2 && head.every(isCount));
  if (Array.isArray(keys)) changes.keys = keys.filter(isCount);
  if (Array.isArray(rows))
    changes.rows = rows.filter(
      (row) => has(row, "layer", "head", "query") && Array.isArray(row.weights) && row.weights.every(Number.isFinite),
    );
  if (Array.isArray(patches))
    changes.patches = patches.filter(
      (patch) =>
        ["embeddings", "context", "residual", "output"].includes(patch?.place) &&
        has(patch, "layer", "position") &&
        typeof patch.from === "string",
    );
  if (typeof temperature === "number" && temperature !== 1 && temperature >= 0.01 && temperature <= 100)
    changes.temperature = temperature;
  if (causal === true) changes.causal = true;
  return changes;
}

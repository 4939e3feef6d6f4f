// The view: what the page shows, and its address. A view is never changed: `change` puts another in its place.

import { signal } from "@preact/signals";
import { kept } from "./facts.js";

/** What a reader has not chosen is infinite or empty: `here` then takes what suits the run. @type {View} */
export const FIRST = {
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
const OF_A_MODEL = /** @type {const} */ (["step", "query", "key", "layer", "head"]);
const unchosen = Object.fromEntries(OF_A_MODEL.map((name) => [name, FIRST[name]]));

// A saved page opens on the view that it was saved with.
if (kept.view && !location.hash) write("replaceState", kept.view);

export const view = signal(FIRST);

// A change of these is a step that the back button takes back; all others leave no trace in the history.
const KEPT = new Set(["run", "sample", "show", "pin", "tab", "guide", "word", "changes", "settings"]);

/** Changes the view. @param {Partial<View>} parts */
export function change(parts) {
  const keep = Object.entries(parts).some(
    ([name, value]) => KEPT.has(name) && value !== view.value[/** @type {keyof View} */ (name)],
  );
  const isOther = parts.settings && JSON.stringify(parts.settings) !== JSON.stringify(view.value.settings);
  view.value = { ...view.value, ...(isOther ? unchosen : {}), ...parts };
  write(keep ? "pushState" : "replaceState", address(view.value));
}

/** @param {"pushState" | "replaceState"} how @param {string} address */
function write(how, address) {
  try {
    history[how](null, "", address);
  } catch {
    // A page within another has no address of its own.
  }
}

/** Changes what moves: nothing but the view, since browsers limit how often the address may change. @param {Partial<View>} parts */
export function changeSoon(parts) {
  view.value = { ...view.value, ...parts };
}

/** Writes the address of a view that `changeSoon` made. */
export function settleAddress() {
  if (location.hash !== address(view.value)) write("replaceState", address(view.value));
}

/** @param {View} view */
export function address({ pin, changes, settings, ...simple }) {
  /** @type {Record<string, string>} */
  const parts = {};
  for (const [name, value] of Object.entries(simple))
    if (name === "show" || value !== FIRST[/** @type {keyof View} */ (name)]) parts[name] = String(value);
  if (pin) parts.pin = JSON.stringify(pin);
  if (Object.keys(changes).length) parts.changes = JSON.stringify(changes);
  if (Object.keys(settings).length) parts.set = JSON.stringify(settings);
  return `#${new URLSearchParams(parts)}`;
}

/** What an address says: only parts that can be. @returns {Partial<View>} */
export function readAddress(hash = location.hash || kept.view || "") {
  const parts = new URLSearchParams(hash.slice(1));
  /** @type {Partial<View>} */
  const found = {};
  for (const name of /** @type {const} */ ([...OF_A_MODEL, "run", "guide", "stage"])) {
    const value = Number(parts.get(name) ?? NaN);
    if (isCount(value)) found[name] = value;
  }
  const show = parts.get("show");
  if (show === "weights" || show === "scores") found.show = show;
  const range = parts.get("range");
  if (range === "unit" || range === "uniform" || range === "own") found.range = range;
  for (const name of /** @type {const} */ (["sample", "word", "tab"])) {
    const text = parts.get(name);
    if (text) found[name] = text;
  }
  found.pin = pinOf(objectOf(parts.get("pin")));
  found.changes = checkedChanges(objectOf(parts.get("changes")));
  found.settings = checkedSettings(objectOf(parts.get("set")));
  return found;
}

/** @param {unknown} value @returns {value is number} */
const isCount = (value) => Number.isInteger(value) && Number(value) >= 0;

/** @param {unknown} value @returns {value is Record<string, any>} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {string | null} text @returns {Record<string, any>} */
function objectOf(text) {
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

/** Only settings of keys that a config can have; null unsets one. @param {Record<string, unknown>} said */
const checkedSettings = (said) =>
  Object.fromEntries(
    Object.entries(said).filter(
      ([key, value]) => SETTING.test(key) && key !== "model.attention" && key !== "model.init",
    ),
  );

/** @param {Record<string, any>} said @returns {View["pin"]} */
function pinOf({ sample, step, run = 0, settings = {}, changes = {} }) {
  if (!sample || ![step, run].every(isCount) || ![settings, changes].every(isObject)) return null;
  return { sample: String(sample), step, run, settings: checkedSettings(settings), changes: checkedChanges(changes) };
}

/** Only changes that can be. @param {any} said @returns {Changes} */
function checkedChanges({ heads, keys, rows, patches, temperature = 1, causal }) {
  /** @type {Changes} */
  const changes = {};
  const has = (/** @type {any} */ one, /** @type {string[]} */ ...names) => names.every((name) => isCount(one?.[name]));
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

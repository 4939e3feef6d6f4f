// The view: what the page shows, and its address. A view is never changed: `change` puts another in its place.

import { signal } from "@preact/signals";
import { kept } from "./facts.js";
import { fixed } from "./numbers.js";

/** @typedef {import("./types").View} View */

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
export function address({
  run,
  sample,
  step,
  query,
  key,
  layer,
  head,
  show,
  range,
  pin,
  tab,
  guide,
  stage,
  word,
  changes,
  settings,
}) {
  /** @type {Record<string, string>} */
  const parts = { ...(sample ? { sample } : {}) };
  for (const [name, value] of Object.entries({ step, query, key, layer, head }))
    if (Number.isFinite(value)) parts[name] = String(value);
  parts.show = show;
  if (run !== FIRST.run) parts.run = String(run);
  if (range !== FIRST.range) parts.range = range;
  if (pin) {
    const { sample, step, run, ...more } = pin;
    parts.pin = [sample, step, run, ...(Object.keys(more).length ? [JSON.stringify(more)] : [])].join(":");
  }
  if (tab !== FIRST.tab) parts.tab = tab;
  if (guide) parts.guide = String(guide);
  if (word) parts.word = word;
  if (stage !== FIRST.stage) parts.stage = String(stage);
  if (changes.temperature !== undefined) parts.temperature = fixed(changes.temperature, 3);
  if (changes.causal) parts.causal = "1";
  const { temperature, causal, ...others } = changes;
  if (Object.keys(others).length) parts.changes = JSON.stringify(others);
  if (Object.keys(settings).length) parts.set = JSON.stringify(settings);
  return `#${new URLSearchParams(parts)}`;
}

/** What an address says: only parts that can be. @returns {Partial<View>} */
export function readAddress(hash = location.hash || kept.view || "") {
  const parts = new URLSearchParams(hash.slice(1));
  /** @type {Partial<View>} */
  const found = {};
  for (const name of /** @type {const} */ ([...OF_A_MODEL, "guide", "stage"])) {
    const value = Number(parts.get(name) ?? NaN);
    if (Number.isInteger(value) && value >= 0) found[name] = value;
  }
  const sample = parts.get("sample");
  if (sample) found.sample = sample;
  const show = parts.get("show");
  if (show === "weights" || show === "scores" || show === "uniform") found.show = show;
  const range = parts.get("range");
  if (range === "unit" || range === "uniform" || range === "own") found.range = range;
  for (const name of /** @type {const} */ (["word", "tab"])) {
    const text = parts.get(name);
    if (text) found[name] = text;
  }
  found.run = runOf(parts.get("run"));
  found.pin = pinOf(parts.get("pin") ?? "");
  const { temperature, causal, ...others } = /** @type {any} */ (objectOf(parts.get("changes")));
  found.changes = checkedChanges({
    ...others,
    temperature: Number(parts.get("temperature") ?? 1),
    causal: parts.get("causal") === "1",
  });
  found.settings = checkedSettings(objectOf(parts.get("set")));
  return found;
}

/** @param {string | null | undefined} text @returns {View["run"]} */
function runOf(text) {
  const number = Number(text ?? 0);
  return Number.isInteger(number) && number >= 0 ? number : 0;
}

/** @param {string | null} text @returns {Record<string, unknown>} */
function objectOf(text) {
  try {
    const value = JSON.parse(text ?? "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
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

/** @param {string} text @returns {View["pin"]} */
function pinOf(text) {
  const [sample, step, run, ...rest] = text.split(":");
  if (!sample || !step || !Number.isInteger(Number(step))) return null;
  const { settings, changes } = /** @type {any} */ (objectOf(rest.join(":") || null));
  const held = checkedChanges(objectOf(JSON.stringify(changes ?? {})));
  const experiment = checkedSettings(objectOf(JSON.stringify(settings ?? {})));
  return {
    sample,
    step: Number(step),
    run: runOf(run),
    ...(Object.keys(experiment).length ? { settings: experiment } : {}),
    ...(Object.keys(held).length ? { changes: held } : {}),
  };
}

/** Only changes that can be. @param {any} said @returns {import("./types").Changes} */
function checkedChanges({ heads, keys, rows, patches, temperature = 1, causal }) {
  /** @type {import("./types").Changes} */
  const changes = {};
  const whole = (/** @type {any} */ value) => Number.isInteger(value) && value >= 0;
  if (Array.isArray(heads))
    changes.heads = heads.filter((head) => Array.isArray(head) && head.length === 2 && head.every(whole));
  if (Array.isArray(keys)) changes.keys = keys.filter(whole);
  if (Array.isArray(rows))
    changes.rows = rows.filter(
      (row) =>
        whole(row?.layer) &&
        whole(row.head) &&
        whole(row.query) &&
        Array.isArray(row.weights) &&
        row.weights.every(Number.isFinite),
    );
  if (Array.isArray(patches))
    changes.patches = patches.filter(
      (patch) =>
        ["embeddings", "context", "residual", "output"].includes(patch?.place) &&
        whole(patch.layer) &&
        whole(patch.position) &&
        typeof patch.from === "string",
    );
  if (typeof temperature === "number" && temperature !== 1 && temperature >= 0.01 && temperature <= 100)
    changes.temperature = temperature;
  if (causal === true) changes.causal = true;
  return changes;
}

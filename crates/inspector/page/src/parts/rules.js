// The rules that decide a label (`crates/data/src/rule.rs`): in words, and what a reader can change in them.

import { valueOf } from "../config.js";

/** @typedef {import("../types").Config} Config */
/** @typedef {{ kind: string } & Record<string, any>} Rule */

/** A number of a rule: its key, its name, and what it counts. @typedef {[key: string, name: string, of: "token" | "position"]} Field */

/** @type {Record<string, { title: string, fields: Field[], ask: (rule: Rule) => string }>} */
export const RULES = {
  "token-at-position": { title: "token at position", fields: [["token", "token", "token"], ["position", "position", "position"]], ask: ({ token, position }) => `is token ${token} at position ${position}?` },
  "token-anywhere": { title: "token anywhere", fields: [["token", "token", "token"]], ask: ({ token }) => `is token ${token} anywhere?` },
  "token-before-token": { title: "token before token", fields: [["first", "token", "token"], ["second", "before token", "token"]], ask: ({ first, second }) => `does token ${first} come before token ${second}?` },
  "equal-positions": { title: "equal positions", fields: [["first", "position", "position"], ["second", "and position", "position"]], ask: ({ first, second }) => `do positions ${first} and ${second} hold the same token?` },
  count: { title: "count a token", fields: [["token", "token", "token"]], ask: ({ token }) => `how often does token ${token} occur?` },
};

// What each rule needs to be learned, as in the files of `configs`. By chance, few samples would be positive.
/** @type {Record<string, Record<string, unknown>>} */
const NEEDS = {
  "token-at-position": {},
  "token-anywhere": { "data.generator": "chacha", "data.positive_rate": 0.5 },
  "token-before-token": { "data.generator": "chacha", "data.positive_rate": 0.5, "model.d_model": 16, "training.epochs": 10, "training.learning_rate": 3e-3 },
  "equal-positions": { "data.generator": "chacha", "data.positive_rate": 0.5, "data.vocab_size": 11, "model.d_model": 16, "model.n_heads": 2, "model.n_layers": 2, "training.epochs": 10, "training.learning_rate": 3e-3 },
  count: { "data.generator": "chacha", "data.vocab_size": 11, "data.n_classes": 3, "training.epochs": 6 },
};
const NEEDED = new Set(Object.values(NEEDS).flatMap(Object.keys));

/** @type {Record<string, Record<string, number>>} */
const BEGIN = { "token-at-position": { token: 42, position: 3 }, "token-anywhere": { token: 42 }, "token-before-token": { first: 7, second: 42 }, "equal-positions": { first: 2, second: 5 }, count: { token: 7 } };

/** The smallest and the largest value of a field. @param {Config} config @param {Field[2]} of @returns {[number, number]} */
export function limitsOf({ data }, of) {
  if (of === "token") return [1, data.vocab_size - 1];
  return data.cls === "last" ? [0, data.seq_len - 1] : [1, data.seq_len];
}

/** The question that a rule asks, after "Can a tiny transformer learn:". @param {Rule | null | undefined} rule */
export const questionOf = (rule) => rule && Object.hasOwn(RULES, rule.kind) ? RULES[rule.kind].ask(rule) : "";

/** Settings without those that are as in the page's own config. @param {Config} base @param {Record<string, unknown>} settings */
const departing = (base, settings) => Object.fromEntries(Object.entries(settings).filter(([key, value]) => !isSame(value, valueOf(base, key))));

/** @param {any} one @param {any} other @returns {boolean} */
function isSame(one, other) {
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) return one === other;
  return Object.keys(one).length === Object.keys(other).length && Object.keys(one).every((key) => isSame(one[key], other[key]));
}

/** Settings with another number in the rule. @param {Config} base @param {Record<string, unknown>} settings @param {Rule} rule */
export const withRule = (base, settings, rule) => departing(base, { ...settings, "data.rule": rule });

/** Settings with another kind of rule, and what that needs. @param {Config} base @param {Record<string, unknown>} settings @param {string} kind */
export function withKind(base, settings, kind) {
  const others = Object.fromEntries(Object.entries(settings).filter(([key]) => key !== "data.rule" && !NEEDED.has(key)));
  if (kind === base.data.rule?.kind) return others;
  const needs = { ...NEEDS[kind] };
  // The rule "count" has as many classes as the config says; all others have two.
  if (kind !== "count" && (base.data.n_classes ?? 2) > 2) needs["data.n_classes"] = 2;
  const vocab_size = /** @type {number} */ (needs["data.vocab_size"] ?? base.data.vocab_size);
  /** @type {Rule} */
  const rule = { kind };
  for (const [key, , of] of RULES[kind].fields) {
    const [least, most] = limitsOf({ data: { ...base.data, vocab_size } }, of);
    rule[key] = Math.min(Math.max(BEGIN[kind][key], least), most);
  }
  // A short sample has not both positions.
  if (kind === "equal-positions" && rule.first === rule.second) rule.first--;
  return departing(base, { ...others, ...needs, "data.rule": rule });
}

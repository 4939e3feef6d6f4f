// The rules that decide a label: in words, and what a reader can change in them.

import { valueOf } from "../config.js";
import { RULES } from "../described.js";

/** @typedef {{ kind: string } & Record<string, any>} Rule */

const NEEDED = new Set(["data.n_classes", ...Object.values(RULES).flatMap(({ needs }) => needs.map(([key]) => key))]);

/** The smallest and the largest value of a field. @param {Config} config @param {import("../types").Counts} of @returns {[number, number]} */
export function limitsOf({ data }, of) {
  if (of === "token") return [data.cls === "none" ? 0 : 1, data.vocab_size - 1];
  return data.cls === "last" || data.cls === "none" ? [0, data.seq_len - 1] : [1, data.seq_len];
}

/** The question that a rule asks, after "Can a tiny transformer learn:". @param {Rule | null | undefined} rule */
export const questionOf = (rule) =>
  rule && Object.hasOwn(RULES, rule.kind) ? RULES[rule.kind].question.replace(/{(\w+)}/g, (_, key) => rule[key]) : "";

/** Settings without those that are as in the page's own config. @param {Config} base @param {Record<string, unknown>} settings */
const departing = (base, settings) =>
  Object.fromEntries(Object.entries(settings).filter(([key, value]) => !isSame(value, valueOf(base, key))));

/** @param {any} one @param {any} other @returns {boolean} */
function isSame(one, other) {
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) return one === other;
  return (
    Object.keys(one).length === Object.keys(other).length &&
    Object.keys(one).every((key) => isSame(one[key], other[key]))
  );
}

/** Settings with another number in the rule. @param {Config} base @param {Record<string, unknown>} settings @param {Rule} rule */
export const withRule = (base, settings, rule) => departing(base, { ...settings, "data.rule": rule });

/** Settings with another kind of rule, and what that needs. @param {Config} base @param {Record<string, unknown>} settings @param {string} kind */
export function withKind(base, settings, kind) {
  const others = Object.fromEntries(
    Object.entries(settings).filter(([key]) => key !== "data.rule" && !NEEDED.has(key)),
  );
  if (kind === base.data.rule?.kind) return others;
  const { parameters, n_classes, needs } = RULES[kind];
  const needed = Object.fromEntries(needs);
  if (n_classes !== (base.data.n_classes ?? 2)) needed["data.n_classes"] = n_classes;
  const vocab_size = /** @type {number} */ (needed["data.vocab_size"] ?? base.data.vocab_size);
  // The positions of a rule differ: each leaves room for those after it.
  let later = parameters.filter(([, , counts]) => counts === "position").length;
  /** @type {Rule} */
  const rule = { kind };
  for (const [key, , counts, first] of parameters) {
    const [least, most] = limitsOf({ data: { ...base.data, vocab_size } }, counts);
    rule[key] = Math.max(Math.min(first, counts === "position" ? most - --later : most), least);
  }
  return departing(base, { ...others, ...needed, "data.rule": rule });
}

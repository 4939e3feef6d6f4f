// The rules that decide a label: in words, and what a reader can change in them.

import { valueOf } from "../../model/config";
import { RULES } from "../../model/described";
import type { Config, Counts } from "../../model/types";

type Rule = { kind: string } & Record<string, any>;

const NEEDED = new Set(["data.n_classes", ...Object.values(RULES).flatMap(({ needs }) => needs.map(([key]) => key))]);

/** The smallest and the largest value of a field. */
export function limitsOf({ data }: Config, of: Counts): [number, number] {
  if (of === "token") return [data.cls === "none" ? 0 : 1, data.vocab_size - 1];
  return data.cls === "last" || data.cls === "none" ? [0, data.seq_len - 1] : [1, data.seq_len];
}

/** The question that a rule asks, after "Can a tiny transformer learn:". */
export const questionOf = (rule: Rule | null | undefined) =>
  rule && Object.hasOwn(RULES, rule.kind) ? RULES[rule.kind].question.replace(/{(\w+)}/g, (_, key) => rule[key]) : "";

/** Settings without those that are as in the page's own config. */
const departing = (base: Config, settings: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(settings).filter(([key, value]) => !isSame(value, valueOf(base, key))));

function isSame(one: any, other: any): boolean {
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) return one === other;
  return (
    Object.keys(one).length === Object.keys(other).length &&
    Object.keys(one).every((key) => isSame(one[key], other[key]))
  );
}

/** Settings with another number in the rule. */
export const withRule = (base: Config, settings: Record<string, unknown>, rule: Rule) =>
  departing(base, { ...settings, "data.rule": rule });

/** Settings with another kind of rule, and what that needs. */
export function withKind(base: Config, settings: Record<string, unknown>, kind: string) {
  const others = Object.fromEntries(
    Object.entries(settings).filter(([key]) => key !== "data.rule" && !NEEDED.has(key)),
  );
  if (kind === base.data.rule?.kind) return others;
  const { parameters, n_classes, needs } = RULES[kind];
  const needed = Object.fromEntries(needs);
  if (n_classes !== (base.data.n_classes ?? 2)) needed["data.n_classes"] = n_classes;
  const vocab_size = (needed["data.vocab_size"] ?? base.data.vocab_size) as number;
  // The positions of a rule differ: each leaves room for those after it.
  let later = parameters.filter(([, , counts]) => counts === "position").length;
  const rule: Rule = { kind };
  for (const [key, , counts, first] of parameters) {
    const [least, most] = limitsOf({ data: { ...base.data, vocab_size } }, counts);
    rule[key] = Math.max(Math.min(first, counts === "position" ? most - --later : most), least);
  }
  return departing(base, { ...others, ...needed, "data.rule": rule });
}

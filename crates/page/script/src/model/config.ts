// A config with changes of the reader, and what follows from a config.

import type { CarriedSamples, Config, UserData } from "./types";

/** A value of a config by its key, such as `model.d_model`. */
export const valueOf = (config: Config, key: string) =>
  key.split(".").reduce((part: any, name) => part?.[name], config);

/** Keys whose usual values depend on the optimizer. */
const OF_THE_OPTIMIZER: Record<string, (optimizer: unknown) => unknown> = {
  epsilon: (optimizer) => (optimizer === "adam" ? 1e-7 : 1e-8),
  token_second_moment: (optimizer) => (optimizer === "adam" ? "per-occurrence" : "per-token"),
};

/** A config with other values; null unsets a key. */
export function withSettings(config: Config, settings: Record<string, unknown>): Config {
  const changed = structuredClone(config);
  for (const [key, value] of Object.entries(settings)) {
    const names = key.split(".");
    const last = names.pop() as string;
    let part = changed;
    for (const name of names) part = part[name] ??= {};
    if (value === null) delete part[last];
    else part[last] = value;
  }
  // A resolved config has these keys in any case.
  const { training: { optimizer = "adam" } = {} } = config;
  for (const [key, usual] of Object.entries(OF_THE_OPTIMIZER)) {
    const { training } = changed;
    if (
      training &&
      (training.optimizer ?? "adam") !== optimizer &&
      !(`training.${key}` in settings) &&
      training[key] === usual(optimizer)
    )
      training[key] = usual(training.optimizer);
  }
  return changed;
}

/** Logits per sample. */
export const logitsOf = ({ data: { n_classes = 2 }, model: { logits } }: Config) =>
  n_classes > 2 || logits === "per-class" ? n_classes : 1;

/** Settings as text, for titles and files. */
export const settingsText = (settings: Record<string, unknown>) =>
  Object.entries(settings)
    .map(
      ([key, value]) =>
        `${key.replace(/^\w+\./, "")} ${value === null ? "unset" : typeof value === "object" ? ruleText(value) : value}`,
    )
    .join(", ");

const ruleText = (rule: object) => Object.values(rule).flat().join(" ");

/** Multiplications of a training, roughly. */
function operationsOf(config: Config, steps: number) {
  const { d_model: width, d_ff = 0, n_layers: layers } = config.model;
  const positions = config.data.seq_len + (config.data.cls === "none" ? 0 : 1);
  const token = 4 * width * width + 2 * width * ((d_ff ?? 0) + positions);
  return 3 * steps * config.training.batch_size * positions * token * Math.max(layers, 1);
}

/** Samples of a file. */
export type Data = CarriedSamples | UserData;

/** Steps of a whole training. @param data its samples, if they come from a file */
export function stepsOf(config: Config, data?: Data) {
  const count = data ? ("table" in data ? data.count : data.tokens.length) : (config.data.samples ?? 0);
  const { epochs, steps, batch_size } = config.training;
  return Math.min(epochs ? epochs * Math.ceil(count / batch_size) : Infinity, steps ?? Infinity);
}

/** Samples as the lab takes them. */
export const givenOf = (data?: Data) =>
  data && ("table" in data ? { table: data.table } : { tokens: data.tokens, labels: data.labels, splits: data.splits });

// A telephone or an old computer does about so many multiplications in a second; a computer of 2020 does 2 to 30 times as many.
const SLOW = 1e9;
const LONG = 10;

/** Whether a training could take more than ten seconds on a slow computer: then the reader starts it. */
export const isLong = (config: Config, steps: number) => operationsOf(config, steps) > LONG * SLOW;

const isTable = (item: unknown) => item !== null && typeof item === "object" && !Array.isArray(item);

function tomlValue(item: any): string {
  if (Array.isArray(item)) return `[${item.map(tomlValue).join(", ")}]`;
  if (isTable(item)) return `{ ${tomlLines(item).join(", ")} }`;
  return typeof item === "string" ? JSON.stringify(item) : String(item);
}

const tomlLines = (table: Config) =>
  Object.entries(table)
    .filter(([, item]) => item !== null)
    .map(([name, item]) => `${name} = ${tomlValue(item)}`);

/** A config as TOML. */
export function tomlOf(config: Config) {
  const [tables, others] = [true, false].map((is) => Object.entries(config).filter(([, item]) => isTable(item) === is));
  const lines = tables.flatMap(([name, table]) => ["", `[${name}]`, ...tomlLines(table)]);
  return `${[...tomlLines(Object.fromEntries(others)), ...lines].join("\n")}\n`;
}

// A config with changes of the reader, and what follows from a config.

/** A value of a config by its key, such as `model.d_model`. @param {Config} config @param {string} key */
export const valueOf = (config, key) => key.split(".").reduce((/** @type {any} */ part, name) => part?.[name], config);

/** Keys whose usual values depend on the optimizer. @type {Record<string, (optimizer: unknown) => unknown>} */
const OF_THE_OPTIMIZER = {
  epsilon: (optimizer) => (optimizer === "adam" ? 1e-7 : 1e-8),
  token_second_moment: (optimizer) => (optimizer === "adam" ? "per-occurrence" : "per-token"),
};

/** A config with other values; null unsets a key. @param {Config} config @param {Record<string, unknown>} settings @returns {Config} */
export function withSettings(config, settings) {
  const changed = structuredClone(config);
  // Samples of a file have no rule, and nothing else that generated samples have.
  if ("data.file" in settings) changed.data = { seed: config.data.seed, cls: config.data.cls };
  for (const [key, value] of Object.entries(settings)) {
    const names = key.split(".");
    const last = /** @type {string} */ (names.pop());
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

/** Logits per sample. @param {Config} config */
export const logitsOf = ({ data: { n_classes = 2 }, model: { logits } }) =>
  n_classes > 2 || logits === "per-class" ? n_classes : 1;

/** Settings as text, for titles and files. @param {Record<string, unknown>} settings */
export const settingsText = (settings) =>
  Object.entries(settings)
    .map(
      ([key, value]) =>
        `${key.split(".").at(-1)} ${value === null ? "unset" : typeof value === "object" ? ruleText(/** @type {any} */ (value)) : value}`,
    )
    .join(", ");

/** @param {Record<string, unknown>} rule */
const ruleText = (rule) => Object.values(rule).flat().join(" ");

/** Multiplications of a training, roughly. @param {Config} config @param {number} steps */
function operationsOf(config, steps) {
  const { d_model: width, d_ff = 0, n_layers: layers } = config.model;
  const positions = config.data.seq_len + (config.data.cls === "none" ? 0 : 1);
  const token = 4 * width * width + 2 * width * ((d_ff ?? 0) + positions);
  return 3 * steps * config.training.batch_size * positions * token * Math.max(layers, 1);
}

/** Samples of a file. @typedef {import("./types").OwnData | import("./types").OwnTexts} Data */

/** Steps of a whole training. @param {Config} config @param {Data} [data] its samples, if they come from a file */
export function stepsOf(config, data) {
  const count = data ? ("table" in data ? data.count : data.tokens.length) : (config.data.samples ?? 0);
  const { epochs, steps, batch_size } = config.training;
  return Math.min(epochs ? epochs * Math.ceil(count / batch_size) : Infinity, steps ?? Infinity);
}

/** Samples as the lab takes them. @param {Data} [data] */
export const givenOf = (data) =>
  data && ("table" in data ? { table: data.table } : { tokens: data.tokens, labels: data.labels, splits: data.splits });

// A telephone or an old computer does about so many multiplications in a second; a computer of 2020 does 2 to 30 times as many.
const SLOW = 1e9;
const LONG = 10;

/** Whether a training could take more than ten seconds on a slow computer: then the reader starts it. @param {Config} config @param {number} steps */
export const isLong = (config, steps) => operationsOf(config, steps) > LONG * SLOW;

/** A config as TOML. @param {Config} config */
export function tomlOf(config) {
  /** @param {any} item @returns {string} */
  const value = (item) => {
    if (Array.isArray(item)) return `[${item.map(value).join(", ")}]`;
    if (item !== null && typeof item === "object")
      return `{ ${Object.entries(item)
        .filter(([, own]) => own !== null)
        .map(([name, own]) => `${name} = ${value(own)}`)
        .join(", ")} }`;
    if (typeof item === "string") return JSON.stringify(item);
    return String(item);
  };
  const isTable = (/** @type {any} */ item) => item !== null && typeof item === "object" && !Array.isArray(item);
  const known = Object.entries(config).filter(([, item]) => item !== null);
  const lines = known.filter(([, item]) => !isTable(item)).map(([name, item]) => `${name} = ${value(item)}`);
  for (const [name, table] of known.filter(([, item]) => isTable(item))) {
    lines.push(
      "",
      `[${name}]`,
      ...Object.entries(table)
        .filter(([, item]) => item !== null)
        .map(([key, item]) => `${key} = ${value(item)}`),
    );
  }
  return `${lines.join("\n")}\n`;
}

// Settings of the experiment: each change trains again, and the curves before stay behind the new ones.

import { valueOf } from "../config";
import { METRICS } from "../described";
import * as keys from "../keys";
import { fixed } from "../numbers";
import { base, config, configBefore, experiment, ghost, settingsOf } from "../state";
import { change, view } from "../view";
import { State } from "./experiment-state";
import type { Config } from "../types";

/** A key of a config, with its values or its least number. */
interface Key {
  key: string;
  values?: (string | boolean)[];
  least?: number;
  step?: number | string;
  default?: unknown;
  optional?: boolean;
  text?: boolean;
}

/** A setting: its key, its name, and more: the largest number that the page offers, the names of values, and what it means if it is unset. */
type Setting = [key: Key, name: string, more?: { most?: number; names?: Record<string, string>; unset?: string }];

const POSITIONS = { ...keys.model_positions, values: [true, "sinusoidal", "rotary", "first", false] };
// A number, or one divided by the root of a size.
const STD = { key: "model.init.std.all", optional: true, text: true };

const FIRST: Setting[] = [
  [keys.training_learning_rate, "Learning rate", { most: 1 }],
  [keys.training_epochs, "Epochs", { most: 100000, unset: "no end" }],
  [keys.training_batch_size, "Batch size", { most: 4096 }],
  [keys.model_d_model, "Width (d_model)", { most: 256 }],
  [keys.model_n_heads, "Heads per block (n_heads)", { most: 16 }],
  [keys.model_n_layers, "Blocks (n_layers)", { most: 8 }],
  [keys.model_d_ff, "Feed-forward width (0: none)", { most: 1024 }],
  [keys.data_cls, "[CLS]"],
  [keys.model_attention_mask, "Mask", { names: { causal: "causal: no later keys" } }],
  [
    keys.model_attention_projections,
    "Projections",
    { names: { separate: "separate Q, K and V", shared: "one for all three" } },
  ],
  [keys.model_attention_scale, "Scaled by 1 / √d_head"],
  [POSITIONS, "Positions", { names: { true: "learned", first: "first: marks position 1", false: "none" } }],
];

/** Groups that are folded until a reader opens them, or one of their keys is set. */
const GROUPS: Record<string, Setting[]> = {
  "Parts of the model": [
    [keys.model_norm, "Norm", { names: { post: "post: after adding", pre: "pre: before each part" } }],
    [keys.model_norm_kind, "Kind of norm", { names: { layer: "layer norm", rms: "RMS norm" } }],
    [keys.model_final_norm, "Norm of the last output", { unset: "with pre" }],
    [keys.model_embedding_norm, "Norm of the first input"],
    [keys.model_norm_gain, "Norms learn a scale"],
    [keys.model_norm_bias, "Norms learn a shift", { unset: "layer norms do" }],
    [keys.model_activation, "Activation"],
    [keys.model_d_head, "Width of a head (d_head)", { most: 256, unset: "d_model / n_heads" }],
    [keys.model_attention_bias, "Biases of Q, K and V"],
    [keys.model_attention_output_bias, "Bias of attention's output"],
    [keys.model_feed_forward_bias, "Feed-forward biases"],
    [keys.model_classifier_bias, "Classifier biases"],
    [keys.model_attention_value_projection, "Values are projected"],
    [keys.model_attention_output_projection, "Attention's output is projected"],
    [keys.model_attention_rate, "Attention rate", { most: 1 }],
    [keys.model_attention_log_length, "Scores × ln(number of keys)"],
    [keys.model_attention_softmax, "Softmax"],
    [
      keys.model_pooling,
      "The classifier reads",
      {
        names: { cls: "[CLS]", last: "the last position", mean: "the mean over positions" },
        unset: "[CLS], or else the last",
      },
    ],
    [keys.model_classifier_hidden, "Classifier's hidden width (0: none)", { most: 1024 }],
    [keys.model_tied_embeddings, "Tied embeddings"],
    [
      keys.model_logits,
      "Logits of two classes",
      { names: { "log-odds": "one: log-odds", "per-class": "one per class" } },
    ],
    [keys.model_init_scheme, "Initial weights"],
    [STD, "Their standard deviation", { unset: "of the scheme" }],
    [keys.model_init_copy_blocks, "Blocks start equal"],
  ],
  Optimizer: [
    [keys.training_optimizer, "Optimizer"],
    [keys.training_weight_decay, "Weight decay", { most: 100, unset: "0.01 with adamw" }],
    [keys.training_momentum, "Momentum", { most: 1 }],
    [keys.training_schedule, "Schedule"],
    [keys.training_warmup_steps, "Warm-up steps", { most: 100000 }],
    [keys.training_max_grad_norm, "Gradient norm at most", { most: 1000, unset: "any" }],
    [keys.training_label_smoothing, "Label smoothing", { most: 1 }],
    [keys.training_cross_entropy, "Cross-entropy", { unset: "by optimizer" }],
    [keys.training_token_second_moment, "Squares of repeated tokens"],
    [keys.training_steps, "Steps at most", { most: 1000000, unset: "all epochs" }],
  ],
};
const SETTINGS = [...FIRST, ...Object.values(GROUPS).flat()];

/** Values whose names say too little. */
const NAMES: Record<string, string> = { true: "yes", false: "no" };

/** The value of a key, with what it is if it is left out; null if it is then unset. */
const given = (of: Config, { key, default: usual = null }: Key) => valueOf(of, key) ?? usual;

/** Sets a key of the experiment, or unsets it with null; a value of the page's own config is no change. */
function set(key: Key, value: unknown) {
  const own = configBefore(view.value.settings) as Config;
  const { [key.key]: _, ...others } = view.value.settings;
  change({ settings: value === given(own, key) ? others : { ...others, [key.key]: value } });
}

/** Where any number above 0 is valid, the least one is the page's choice. */
function Control({ setting: [key, name, { most, names = {}, unset } = {}] }: { setting: Setting }) {
  const { values, least = 1e-6, step = 1, optional: isOptional = false, text: isText = false } = key;
  const now = given(config.value as Config, key);
  const id = `set-${key.key.replaceAll(".", "-")}`;
  const isListed = values?.includes(now) || (isOptional && now === null);
  const limits = (isText ? {} : { type: "number", min: least, max: most, step }) as object;
  return (
    <label class={key.key in view.value.settings ? "is-other" : undefined} for={id}>
      {name}
      {values ? (
        <select
          id={id}
          value={isListed ? String(now) : "other"}
          onChange={({ currentTarget }) => {
            set(key, values.find((value) => String(value) === currentTarget.value) ?? null);
          }}
        >
          {!isListed && (
            <option value="other" disabled>
              {String(JSON.stringify(now))}
            </option>
          )}
          {isOptional && <option value="null">unset{unset && ` (${unset})`}</option>}
          {values.map(String).map((value) => (
            <option key={value} value={value}>
              {names[value] ?? NAMES[value] ?? value}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          {...limits}
          value={now ?? ""}
          placeholder={unset}
          onChange={({ currentTarget }) => {
            const { value } = currentTarget;
            if (currentTarget.reportValidity() && (value !== "" || isOptional))
              set(key, value === "" ? null : Number.isNaN(Number(value)) ? value : Number(value));
          }}
        />
      )}
    </label>
  );
}

/** Controls that are folded until one of them is set. */
function Group({ name, settings }: { name: string; settings: Setting[] }) {
  const count = settings.filter(([{ key }]) => key in view.value.settings).length;
  return (
    <details class="settings-group" open={count > 0 || undefined}>
      <summary>
        {name}
        {count > 0 && ` (${count} changed)`}
      </summary>
      <div class="settings">
        {settings.map((setting) => (
          <Control key={setting[1]} setting={setting} />
        ))}
      </div>
    </details>
  );
}

/** The result of a training, on held-out samples if it has any. */
function Result({ name, ended }: { name: string; ended: any }) {
  const measured = ended.best?.held_out ?? ended.held_out ?? ended.train;
  return (
    <tr>
      <th scope="row">
        {name}, {ended.held_out ? "held-out" : "training"} samples
      </th>
      {METRICS.map(([key, , decimals]) => (
        <td key={key}>{Number.isFinite(measured[key]) ? fixed(measured[key], decimals) : "–"}</td>
      ))}
    </tr>
  );
}

export function Settings() {
  const trained = experiment.value?.outcome;
  const shownSettings = settingsOf(base.value);
  const before = ghost.value;
  return (
    <section class="card" id="settings" aria-labelledby="settings-title">
      <h2 id="settings-title">Another training</h2>
      <p class="how">
        Each change trains again, with the same seed unless you change it above. The curves of the run before stay
        behind the new ones.
      </p>
      <div class="settings">
        {FIRST.map((setting) => (
          <Control key={setting[1]} setting={setting} />
        ))}
      </div>
      {Object.entries(GROUPS).map(([name, settings]) => (
        <Group key={name} name={name} settings={settings} />
      ))}
      <p>
        <State />
      </p>
      {trained && Object.keys(shownSettings).length > 0 && (
        <table class="numbers" id="outcome-of-experiment">
          <caption>Measured on the {trained.ended.best ? "best model" : "model after the last step"}</caption>
          <thead>
            <tr>
              <td />
              {METRICS.map(([key, name]) => (
                <th scope="col" key={key}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Result name="this experiment" ended={trained.ended} />
            {before?.facts.ended && <Result name="the training before" ended={before.facts.ended} />}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** A message with the names that this page gives the config's keys. */
export const inPageWords = (text: string) =>
  text.replace(/`([\w.]+)`/g, (quoted, key) => SETTINGS.find(([{ key: own }]) => own === key)?.[1] ?? quoted);

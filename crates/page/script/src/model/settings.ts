// The settings of an experiment that the page offers, by the names that it gives them.

import * as keys from "./keys";

/** A key of a config, with its values or its least number. */
export interface Key {
  key: string;
  values?: (string | boolean)[];
  least?: number;
  step?: number | string;
  default?: unknown;
  optional?: boolean;
  text?: boolean;
}

/** A setting: its key, its name, and more: the largest number that the page offers, the names of values, and what it means if it is unset. */
export type Setting = [key: Key, name: string, more?: More];
type More = { most?: number; names?: Record<string, string>; unset?: string };

const POSITIONS = { ...keys.model_positions, values: [true, "sinusoidal", "rotary", "first", false] };
// A number, or one divided by the root of a size.
const STD = { key: "model.init.std.all", optional: true, text: true };

export const FIRST: Setting[] = [
  [keys.training_learning_rate, "Learning rate", { most: 1 }],
  [keys.training_epochs, "Epochs", { most: 100000, unset: "no end" }],
  [keys.training_batch_size, "Batch size", { most: 4096 }],
  [keys.model_d_model, "Width (d_model)", { most: 256 }],
  [keys.model_n_heads, "Heads per layer (n_heads)", { most: 16 }],
  [keys.model_n_layers, "Layers (n_layers)", { most: 8 }],
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
export const GROUPS: Record<string, Setting[]> = {
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
    [keys.model_init_copy_blocks, "Layers start equal"],
  ],
  Optimizer: [
    [keys.training_optimizer, "Optimizer"],
    [keys.training_weight_decay, "Weight decay", { most: 100, unset: "0.01 with adamw" }],
    [keys.training_momentum, "Momentum", { most: 1 }],
    [keys.training_schedule, "Schedule"],
    [keys.training_warmup_steps, "Warm-up steps", { most: 100000 }],
    [keys.training_max_grad_norm, "Gradient norm at most", { most: 1000, unset: "any" }],
    [keys.training_label_smoothing, "Label smoothing", { most: 1 }],
    [keys.training_dropout_preset, "Dropout", { unset: "none" }],
    [keys.training_dropout_rate, "Dropout rate", { most: 1, unset: "0.1" }],
    [keys.training_cross_entropy, "Cross-entropy", { unset: "by optimizer" }],
    [keys.training_token_second_moment, "Squares of repeated tokens"],
    [keys.training_steps, "Steps at most", { most: 1000000, unset: "all epochs" }],
  ],
};
const SETTINGS = [...FIRST, ...Object.values(GROUPS).flat()];

/** A message with the names that this page gives the config's keys. */
export const inPageWords = (text: string) =>
  text.replace(/`([\w.]+)`/g, (quoted, key) => SETTINGS.find(([{ key: own }]) => own === key)?.[1] ?? quoted);

// A config with settings of the reader, and what follows from it.

import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./page.mjs";
const [{ isLong, logitsOf, settingsText, stepsOf, tomlOf, withSettings }] = await load("model/config");

const notebook = {
  seed: 0,
  data: { seed: 0, cls: "first", seq_len: 6, vocab_size: 51, samples: 8000, rule: { kind: "token-at-position", position: 3, token: 42 } },
  model: { d_model: 8, n_heads: 1, n_layers: 1, d_ff: null },
  training: { epochs: 3, batch_size: 16 },
};

test("the steps of a training are those of its samples, or of a file's; steps end it, alone or before its epochs do", () => {
  assert.equal(stepsOf(notebook, { tokens: Array(33).fill([1]), labels: [] }), 9);
  const steps = (settings) => stepsOf(withSettings(notebook, settings));
  const all = [{}, { "training.steps": 20 }, { "training.steps": 9000 }, { "training.steps": 9000, "training.epochs": null }];
  assert.deepEqual(all.map(steps), [1500, 20, 1500, 9000]);
});

test("a training asks first if it takes long on a slow computer", () => {
  const asks = (settings) => {
    const config = withSettings(notebook, settings);
    return isLong(config, stepsOf(config));
  };
  assert.ok(!asks({}));
  assert.ok(!asks({ "model.n_layers": 2, "model.d_ff": 64, "model.d_model": 32 }));
  assert.ok(asks({ "training.epochs": 400 }));
  assert.ok(asks({ "model.d_model": 256 }));
});

test("settings leave the config as it was, and make tables that it lacks", () => {
  const changed = withSettings(notebook, { "model.attention.mask": "causal", seed: 3 });
  assert.deepEqual([changed.model.attention, changed.seed], [{ mask: "causal" }, 3]);
  assert.deepEqual([notebook.model.attention, notebook.seed], [undefined, 0]);
  assert.equal(settingsText({ seed: 3, "data.rule": { kind: "count", token: 5 } }), "seed 3, rule count 5");
});

test("null unsets a key, and what depends on the optimizer follows it unless it is set", () => {
  const training = { epochs: 3, batch_size: 16, epsilon: 1e-7, token_second_moment: "per-occurrence" };
  const trained = (settings) => withSettings({ ...notebook, training }, settings).training;
  assert.deepEqual(trained({ "training.optimizer": "adamw" }), { ...training, optimizer: "adamw", epsilon: 1e-8, token_second_moment: "per-token" });
  assert.equal(trained({ "training.optimizer": "adamw", "training.epsilon": 0.1 }).epsilon, 0.1);
  assert.equal(withSettings({ ...notebook, training: { ...training, epsilon: 0.5 } }, { "training.optimizer": "sgd" }).training.epsilon, 0.5);
  const unset = trained({ "training.epochs": null, "training.steps": 7 });
  assert.deepEqual([unset.epochs, unset.steps, settingsText({ "training.epochs": null })], [undefined, 7, "epochs unset"]);
});

test("two classes have one logit, or one per class", () => {
  const logits = (data, model) => logitsOf({ data, model });
  assert.deepEqual([logits({}, {}), logits({ n_classes: 2 }, { logits: "per-class" }), logits({ n_classes: 5 }, {})], [1, 2, 5]);
});

test("a config as TOML", () => {
  assert.match(tomlOf(notebook), /^seed = 0\n\n\[data\]\n/);
  assert.match(tomlOf(notebook), /rule = \{ kind = "token-at-position", position = 3, token = 42 \}/);
  assert.ok(!tomlOf(notebook).includes("d_ff"));
});

// Models of every part, trained by the page's engine: what the page computes in each stage is what the engine has.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { load, open } from "./page.mjs";

open(readFileSync(new URL("../../../../docs/lab.html", import.meta.url), "utf8"));
const [{ baseConfig, configOf }, { Training }, { Computation, difference }, { stagesOf }] = await load("state/state", "sources/training", "walk/computation", "walk/stages");

const SHORT = { "data.samples": 200, "data.held_out": 40, "training.epochs": 2, "model.n_layers": 2, "model.n_heads": 2 };
const MASKED = { "model.attention.mask": "causal", "data.cls": "last" };
const MODELS = {
  "post-norm": { "model.d_ff": 12 },
  "pre-norm, GELU, rotary": { "model.norm": "pre", "model.d_ff": 12, "model.activation": "gelu", "model.positions": "rotary", "training.optimizer": "adamw" },
  "pre-norm, RMS, causal": { "model.norm": "pre", "model.norm_kind": "rms", "model.d_ff": 12, "model.activation": "silu", ...MASKED },
  "pre-norm without feed-forward layer": { "model.norm": "pre", "model.positions": "sinusoidal", "model.norm_gain": false },
  "no norm, no biases": {
    "model.norm": "none", "model.d_ff": 12, "model.activation": "gelu-tanh", "model.positions": "first", "model.feed_forward_bias": false, "model.classifier_bias": false,
    "model.attention.bias": false, "model.attention.output_bias": false,
  },
  "post-norm, norms that learn nothing": { "model.norm_gain": false, "model.norm_bias": false, "model.final_norm": true, "model.embedding_norm": true, "model.d_ff": 12 },
  "rate and ln of the keys": { "model.attention.rate": 0.7, "model.attention.log_length": true, ...MASKED },
  "no softmax": { "model.attention.softmax": false, "model.norm": "none", "model.positions": false },
  "identity projections": { "model.attention.value_projection": false, "model.attention.output_projection": false, "model.positions": "rotary" },
  "no projections, pre-norm": { "model.attention.projections": "none", "model.norm": "pre" },
  "shared projection, rotary": { "model.attention.projections": "shared", "model.positions": "rotary", "training.optimizer": "sgd", "training.momentum": 0.9 },
  "wide heads, mean, hidden classifier": { "model.d_head": 6, "model.pooling": "mean", "model.classifier_hidden": 5, "model.activation": "gelu", "model.norm": "pre" },
  "no [CLS], two logits": { "data.cls": "none", "model.logits": "per-class", "model.norm": "pre", "model.d_ff": 8 },
  "no [CLS], mean": { "data.cls": "none", "model.pooling": "mean" },
  "no [CLS], position 1": { "data.cls": "none", "model.pooling": 1, "model.attention.rate": 0.5 },
  "last position beside [CLS]": { "model.pooling": "last" },
};

for (const [name, settings] of Object.entries(MODELS)) {
  test(name, async () => {
    const config = configOf({ ...SHORT, ...settings });
    const { run, ended } = await new Training({ config }).outcome;
    assert.match(ended.weights_sha256, /^[\da-f]{64}$/);
    const [sample] = run.samples;
    const at = run.times.length - 1;
    let compared = 0;
    for (const layer of [0, 1]) {
      for (const query of [0, 2]) {
        const { source } = run;
        const computation = new Computation({
          facts: run.facts, tokens: sample.tokens, arrays: source.arrays(at, sample), layer, head: 1, query,
          parameter: (parameter) => source.parameter(parameter, at),
          row: (kind, ...where) => source.row(kind, at, sample, ...where),
          allows: (one, other) => run.allows(sample, one, other),
          logits: source.results("logits", at, sample), probabilities: source.results("probabilities", at, sample), changes: {},
        });
        const names = { token: (position) => run.tokenText(sample, position), row: (position) => run.rowName(sample.key, position), className: (label) => run.className(label), label: sample.label };
        for (const { title, sentence, formula, checks = [] } of stagesOf(computation, names, 1)) {
          assert.doesNotMatch(`${sentence} ${formula}`, /NaN|undefined|Infinity|null|\[object/, title);
          for (const [found, engine] of checks) {
            const size = Math.max(1, ...Array.from(engine, Math.abs));
            assert.ok(difference(found, engine) <= 1e-5 * size, `${title}, layer ${layer}, query ${query}: ${difference(found, engine)}`);
            compared++;
          }
        }
      }
    }
    assert.ok(compared >= 30, String(compared));
  });
}

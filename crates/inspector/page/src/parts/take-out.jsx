// What a reader takes out of the page, to go on at the command line.

import { tomlOf, withSettings } from "../config.js";
import { Live } from "../sources/live.js";
import { base, baseConfig, dataOf, here, settingsOf } from "../state.js";
import { bool, float32, int64, npz, unicode } from "./npz.js";
import { csvOf } from "./csv.js";
import { saveFile } from "./dom.jsx";

/** @typedef {import("../run.js").Run} Run */

/** Axes of a dump's arrays. */
const AXES = {
  attention_scores: ["sample", "layer", "head", "query", "key"], attention_weights: ["sample", "layer", "head", "query", "key"],
  query: ["sample", "layer", "head", "position", "d_head"], key: ["sample", "layer", "head", "position", "d_head"],
  value: ["sample", "layer", "head", "position", "d_head"], context: ["sample", "layer", "head", "position", "d_head"],
  embeddings: ["sample", "position", "d_model"], residual: ["sample", "layer", "position", "d_model"],
  feed_forward_hidden: ["sample", "layer", "position", "d_ff"], feed_forward_residual: ["sample", "layer", "position", "d_model"],
};

/** The dump of a run's samples at a step, as `headlight dump` writes it. @param {Run} run @param {Live} source @param {number} at */
export function dumpOf(run, source, at) {
  const { config } = source;
  const { samples, facts, positions } = run;
  const answer = source.trained.lab.ask({ operation: "look", config, tokens: samples.map(({ tokens }) => tokens), interventions: source.interventions(at) }, source.weightsAt(at));
  /** @type {Record<string, Float32Array>} */
  const found = {};
  let start = 0;
  for (const [name, length] of answer.arrays) found[name] = answer.floats.subarray(start, start += length);
  /** @type {Record<string, number>} */
  const sizes = { sample: samples.length, layer: facts.layers, head: facts.heads, query: positions, key: positions, position: positions, d_head: facts.d_head, d_model: facts.d_model, d_ff: config.model.d_ff ?? 0 };
  const results = facts.logits === 1 ? [samples.length] : [samples.length, facts.logits];
  const resultAxes = facts.logits === 1 ? ["sample"] : ["sample", "class"];
  const known = Object.entries(AXES).filter(([name]) => found[name]?.length);
  const masked = answer.mask.length > 0;
  const strings = Object.fromEntries(samples.flatMap((sample) => sample.tokens.map((token, position) => [token, run.tokenText(sample, position)])));
  const step = run.times[at];
  const meta = {
    version: 1,
    axes: {
      tokens: ["sample", "position"], labels: ["sample"], logits: resultAxes, probabilities: resultAxes, ...Object.fromEntries(known),
      ...(masked ? { attention_mask: ["sample", "query", "key"] } : {}),
    },
    step, epoch: null, seed: facts.seed, samples: samples.map(({ number }) => number), token_strings: strings,
    label_positions: samples.map(({ marked }) => marked), config,
  };
  return npz({
    tokens: int64(samples.flatMap(({ tokens }) => tokens), [samples.length, positions]),
    labels: float32(Float32Array.from(samples, ({ label }) => label ?? NaN), [samples.length]),
    logits: float32(found.logits, results), probabilities: float32(found.probabilities, results),
    ...Object.fromEntries(known.map(([name, axes]) => [name, float32(found[name], axes.map((axis) => sizes[axis]))])),
    ...(masked ? { attention_mask: bool(answer.mask, [samples.length, positions, positions]) } : {}),
    meta: unicode(JSON.stringify(meta)),
  });
}

export function TakeOut() {
  const now = here.value;
  const run = base.value;
  const own = baseConfig();
  if (!now || !run || !own || !(run.source instanceof Live) || !(now.run.source instanceof Live)) return null;
  const trained = run.source;
  const changed = now.run.source;
  const settings = settingsOf(run);
  const config = withSettings(own, settings);
  const data = dataOf(settings);
  const step = run.stepName(now.at);
  const model = () => saveFile("model.safetensors", new Blob([trained.trained.lab.ask({ operation: "save", config: trained.config }, trained.weightsAt(now.at)).floats]));
  return (
    <section class="card" id="take-out" aria-labelledby="take-out-title">
      <h2 id="take-out-title">Take it out</h2>
      <p class="how">Files that <code>headlight</code> and NumPy read: <code>headlight train config.toml</code> repeats this training, <code>headlight inspect dump.npz</code> shows this step{now.isWhatIf ? ", with the changes above" : ""}.</p>
      <div class="row">
        <button type="button" id="take-config" onClick={() => saveFile("config.toml", new Blob([tomlOf(config)]))}>config.toml</button>
        <button type="button" id="take-model" onClick={model}>model.safetensors (step {step})</button>
        <button type="button" id="take-dump" onClick={() => saveFile(`step-${step}${now.isWhatIf ? "-changed" : ""}.npz`, dumpOf(now.run, changed, now.at))}>dump of step {step} (.npz)</button>
        {data && <button type="button" id="take-data" onClick={() => saveFile(String(config.data.file), new Blob([csvOf(data)]))}><bdi>{String(config.data.file)}</bdi></button>}
      </div>
    </section>
  );
}

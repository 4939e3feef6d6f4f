// What a reader takes out of the page, to go on at the command line.

import { tomlOf } from "../config.js";
import { partsOf } from "../engine/lab.js";
import { Live } from "../sources/live.js";
import { base, configOf, dataOf, here, settingsOf } from "../state.js";
import { bool, float32, int64, npz, unicode } from "./npz.js";
import { csvOf } from "./csv.js";
import { saveFile } from "./dom.jsx";

/** @typedef {import("../run.js").Run} Run */

/** The dump of a run's samples at a step, as `headlight dump` writes it. @param {Run} run @param {Live} source @param {number} at */
export function dumpOf(run, source, at) {
  const { config } = source;
  const { samples, facts, positions } = run;
  const answer = source.trained.lab.ask({ operation: "look", config, tokens: samples.map(({ tokens }) => tokens), interventions: source.interventions(at) }, source.weightsAt(at));
  /** Names, lengths, and axes with their extents. @type {[string, number, [string, number][]][]} */
  const arrays = answer.arrays;
  const values = partsOf(arrays, answer.floats);
  const masked = answer.mask.length > 0;
  const strings = Object.fromEntries(samples.flatMap((sample) => sample.tokens.map((token, position) => [token, run.tokenText({ ...sample, typed: undefined }, position)])));
  const meta = {
    version: 1,
    axes: {
      tokens: ["sample", "position"], labels: run.asksEach ? ["sample", "position"] : ["sample"], ...Object.fromEntries(arrays.map(([name, , axes]) => [name, axes.map(([axis]) => axis)])),
      ...(masked ? { attention_mask: ["sample", "query", "key"] } : {}),
    },
    step: run.times[at], epoch: null, seed: facts.seed, samples: samples.map(({ number }) => number), token_strings: strings,
    label_positions: samples.map(({ marked, each }) => each ? [] : marked), ...(facts.read === undefined || facts.read === run.cls ? {} : { read_position: facts.read }), config,
  };
  return npz({
    tokens: int64(samples.flatMap(({ tokens }) => tokens), [samples.length, positions]),
    labels: float32(Float32Array.from(samples.flatMap(({ label, each }) => each ? each.map(([own]) => own) : [label]), (label) => label ?? NaN), run.asksEach ? [samples.length, positions] : [samples.length]),
    ...Object.fromEntries(arrays.map(([name, , axes]) => [name, float32(values[name], axes.map(([, extent]) => extent))])),
    ...(masked ? { attention_mask: bool(answer.mask, [samples.length, positions, positions]) } : {}),
    meta: unicode(JSON.stringify(meta)),
  });
}

export function TakeOut() {
  const now = here.value;
  const run = base.value;
  const settings = settingsOf(run);
  const config = configOf(settings);
  if (!now || !run || !config || !(run.source instanceof Live) || !(now.run.source instanceof Live)) return null;
  const trained = run.source;
  const changed = now.run.source;
  const data = dataOf(settings);
  const step = run.stepName(now.at);
  const isBest = run.facts.best === run.times[now.at] && run.facts.best !== run.last;
  const file = `${isBest ? "best" : "model"}.safetensors`;
  const model = () => saveFile(file, new Blob([trained.trained.lab.ask({ operation: "save", config: trained.config }, trained.weightsAt(now.at)).floats]));
  return (
    <section class="card" id="take-out" aria-labelledby="take-out-title">
      <h2 id="take-out-title">Take it out</h2>
      <p class="how">Files that <code>headlight</code> and NumPy read: <code>headlight train config.toml</code> repeats this training, <code>headlight inspect dump.npz</code> shows this step{now.isWhatIf ? ", with the changes above" : ""}.</p>
      <div class="row">
        <button type="button" id="take-config" onClick={() => saveFile("config.toml", new Blob([tomlOf(config)]))}>config.toml</button>
        <button type="button" id="take-model" onClick={model}>{file} (step {step})</button>
        <button type="button" id="take-dump" onClick={() => saveFile(`step-${step}${now.isWhatIf ? "-changed" : ""}.npz`, dumpOf(now.run, changed, now.at))}>dump of step {step} (.npz)</button>
        {data && !run.asksEach && <button type="button" id="take-data" onClick={() => saveFile(String(config.data.file), new Blob(["table" in data ? data.table : csvOf(data)]))}><bdi>{String(config.data.file)}</bdi></button>}
      </div>
    </section>
  );
}

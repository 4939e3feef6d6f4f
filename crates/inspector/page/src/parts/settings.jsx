// Settings of the experiment: each change trains again, and the curves before stay behind the new ones.

import { valueOf } from "../config.js";
import { METRICS } from "../described.js";
import * as keys from "../keys.js";
import { fixed } from "../numbers.js";
import { config, configBefore, experiment, ghost, here, settingsOf, base } from "../state.js";
import { change, view } from "../view.js";

/** A key of a config, with its values or its least number. @typedef {{ key: string, values?: (string | boolean)[], least?: number, step?: number | string }} Key */

/** A setting: its key, its name, and the largest number that the page offers. @typedef {[key: Key, name: string, most?: number]} Setting */

/** @type {Setting[]} */
const SETTINGS = [
  [keys.training_learning_rate, "Learning rate", 1],
  [keys.training_epochs, "Epochs", 1000],
  [keys.training_batch_size, "Batch size", 4096],
  [keys.model_d_model, "Width (d_model)", 256],
  [keys.model_n_heads, "Heads per block (n_heads)", 16],
  [keys.model_n_layers, "Blocks (n_layers)", 8],
  [keys.model_d_ff, "Feed-forward width (0: none)", 1024],
  [keys.data_cls, "[CLS]"],
  [keys.model_attention_mask, "Mask"],
  [keys.model_attention_projections, "Projections"],
  [keys.model_attention_scale, "Scaled by 1 / √d_head"],
  [keys.model_positions, "Position embedding"],
];

/** Values whose names say too little. @type {Record<string, string>} */
const NAMES = { causal: "causal: no later keys", separate: "separate Q, K and V", shared: "one for all three", true: "yes", false: "no" };

/** Sets a key of the experiment; a value of the page's own config is no change. @param {string} key @param {unknown} value */
function set(key, value) {
  const own = /** @type {import("../types").Config} */ (configBefore(view.value.settings));
  const { [key]: _, ...others } = view.value.settings;
  change({ settings: value === valueOf(own, key) ? others : { ...others, [key]: value } });
}

/** Where any number above 0 is valid, the least one is the page's choice. @param {{ setting: Setting }} props */
function Control({ setting: [{ key, values, least = 1e-6, step = 1 }, name, most] }) {
  const now = valueOf(/** @type {import("../types").Config} */ (config.value), key);
  const isOther = key in view.value.settings;
  const id = `set-${key.replaceAll(".", "-")}`;
  return (
    <label class={isOther ? "is-other" : undefined} for={id}>{name}
      {values
        ? (
          <select id={id} value={values.includes(now) ? String(now) : "other"} onChange={({ currentTarget }) => {
            set(key, values.find((value) => String(value) === currentTarget.value));
          }}>
            {!values.includes(now) && <option value="other" disabled>{String(JSON.stringify(now))}</option>}
            {values.map(String).map((value) => <option key={value} value={value}>{NAMES[value] ?? value}</option>)}
          </select>
        )
        : (
          <input id={id} type="number" min={least} max={most} step={step} value={now ?? 0} onChange={({ currentTarget }) => {
            if (currentTarget.reportValidity() && currentTarget.value !== "") set(key, Number(currentTarget.value));
          }} />
        )}
    </label>
  );
}

/** The held-out result of a run, as cells. @param {any} ended */
const cells = (ended) => {
  const measured = ended?.best?.held_out ?? ended?.held_out ?? ended?.train;
  return METRICS.map(([key, , decimals]) => measured ? fixed(measured[key], decimals) : "–");
};

export function Settings() {
  const trained = experiment.value?.outcome;
  const shownSettings = settingsOf(base.value);
  const before = ghost.value;
  return (
    <section class="card" id="settings" aria-labelledby="settings-title">
      <h2 id="settings-title">Another training</h2>
      <p class="how">Each change trains again, with the same seed unless you change it above. The curves of the run before stay behind the new ones.</p>
      <div class="settings">{SETTINGS.map((setting) => <Control key={setting[1]} setting={setting} />)}</div>
      <State />
      {trained && Object.keys(shownSettings).length > 0 && (
        <table class="numbers" id="outcome-of-experiment">
          <caption>Samples that were held out, by the {trained.ended.best ? "best model" : "model after the last step"}</caption>
          <thead><tr><td />{METRICS.map(([key, name]) => <th scope="col" key={key}>{name}</th>)}</tr></thead>
          <tbody>
            <tr><th scope="row">this experiment</th>{cells(trained.ended).map((cell, at) => <td key={at}>{cell}</td>)}</tr>
            {before && endedOf(before) && <tr><th scope="row">the training before</th>{cells(endedOf(before)).map((cell, at) => <td key={at}>{cell}</td>)}</tr>}
          </tbody>
        </table>
      )}
      {Object.keys(view.value.settings).length > 0 && <button type="button" onClick={() => change({ settings: {} })}>Back to the page's own training</button>}
      {!here.value && <p class="hint">The first training is still running.</p>}
    </section>
  );
}

/** A message with the names that this page gives the config's keys. @param {string} text */
export const inPageWords = (text) => text.replace(/`([\w.]+)`/g, (quoted, key) => SETTINGS.find(([{ key: own }]) => own === key)?.[1] ?? quoted);

/** How a run's training ended. @param {import("../run.js").Run} run */
const endedOf = (run) => run.facts.ended;

export function State() {
  const now = experiment.value;
  if (!now) return <p class="hint">Nothing differs from the page's own training.</p>;
  if (now.state === "failed") return <p class="failed" role="alert">This cannot be trained: {now.why}. The run before is still shown.</p>;
  if (now.state === "asks") return <p>This training may take long. <button type="button" onClick={now.start}>Train it</button></p>;
  if (now.state === "stopped") return <p>The training was stopped. <button type="button" onClick={now.start}>Train it again</button></p>;
  if (now.state === "training") return <p>Training: step {now.step} of {now.steps || "…"}. <button type="button" onClick={now.stop}>Stop</button></p>;
  return null;
}

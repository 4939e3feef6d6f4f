// Settings of the experiment: each change trains again, and the curves before stay behind the new ones.

import { valueOf } from "../config.js";
import { fixed } from "../numbers.js";
import { baseConfig, config, experiment, ghost, here, settingsOf, base } from "../state.js";
import { change, view } from "../view.js";

/** A setting: its key in a config, its name, and its values or the limits of a number.
 * @typedef {{ key: string, name: string, values?: [string | boolean | number, string][], least?: number, most?: number, step?: number | "any" }} Setting */

/** @type {Setting[]} */
const SETTINGS = [
  { key: "training.learning_rate", name: "Learning rate", least: 1e-6, most: 1, step: "any" },
  { key: "training.epochs", name: "Epochs", least: 1, most: 1000 },
  { key: "training.batch_size", name: "Batch size", least: 1, most: 4096 },
  { key: "model.d_model", name: "Width (d_model)", least: 1, most: 256 },
  { key: "model.n_heads", name: "Heads per block (n_heads)", least: 1, most: 16 },
  { key: "model.n_layers", name: "Blocks (n_layers)", least: 1, most: 8 },
  { key: "model.d_ff", name: "Feed-forward width (0: none)", least: 0, most: 1024 },
  { key: "data.cls", name: "[CLS]", values: [["first", "first"], ["last", "last"]] },
  { key: "model.attention.mask", name: "Mask", values: [["none", "none"], ["causal", "causal: no later keys"]] },
  { key: "model.attention.projections", name: "Projections", values: [["separate", "separate Q, K and V"], ["shared", "one for all three"], ["none", "none"]] },
  { key: "model.attention.scale", name: "Scaled by 1 / √d_head", values: [[true, "yes"], [false, "no"]] },
  { key: "model.positions", name: "Position embedding", values: [[true, "yes"], [false, "no"]] },
];

/** Sets a key of the experiment; a value of the page's own config is no change. @param {string} key @param {unknown} value */
function set(key, value) {
  const own = /** @type {import("../types").Config} */ (baseConfig());
  const { [key]: _, ...others } = view.value.settings;
  change({ settings: value === valueOf(own, key) ? others : { ...others, [key]: value } });
}

/** @param {{ setting: Setting }} props */
function Control({ setting: { key, name, values, least, most, step = 1 } }) {
  const now = valueOf(/** @type {import("../types").Config} */ (config.value), key);
  const isOther = key in view.value.settings;
  const id = `set-${key.replaceAll(".", "-")}`;
  return (
    <label class={isOther ? "is-other" : undefined} for={id}>{name}
      {values
        ? (
          <select id={id} value={values.some(([value]) => value === now) ? String(now) : "other"} onChange={({ currentTarget }) => {
            const found = values.find(([value]) => String(value) === currentTarget.value);
            if (found) set(key, found[0]);
          }}>
            {!values.some(([value]) => value === now) && <option value="other" disabled>{String(JSON.stringify(now))}</option>}
            {values.map(([value, text]) => <option key={text} value={String(value)}>{text}</option>)}
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
  const measured = ended?.held_out ?? ended?.train;
  return measured ? [fixed(measured.f1, 3), fixed(measured.accuracy, 4), fixed(measured.loss)] : ["–", "–", "–"];
};

export function Settings() {
  const trained = experiment.value?.outcome;
  const shownSettings = settingsOf(base.value);
  const before = ghost.value;
  return (
    <section class="card" id="settings" aria-labelledby="settings-title">
      <h2 id="settings-title">Another training</h2>
      <p class="how">Each change trains again, with the same seed unless you change it above. The curves of the run before stay behind the new ones.</p>
      <div class="settings">{SETTINGS.map((setting) => <Control key={setting.key} setting={setting} />)}</div>
      <State />
      {trained && Object.keys(shownSettings).length > 0 && (
        <table class="numbers" id="outcome-of-experiment">
          <caption>Samples that were held out, after the last step</caption>
          <thead><tr><td /><th scope="col">F1</th><th scope="col">accuracy</th><th scope="col">loss</th></tr></thead>
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

/** How a run's training ended. @param {import("../run.js").Run} run */
const endedOf = (run) => run.facts.ended;

function State() {
  const now = experiment.value;
  if (!now) return <p class="hint">Nothing differs from the page's own training.</p>;
  if (now.state === "failed") return <p class="failed" role="alert">This cannot be trained: {now.why}. The run before is still shown.</p>;
  if (now.state === "asks") return <p>This training may take long. <button type="button" onClick={now.start}>Train it</button></p>;
  if (now.state === "stopped") return <p>The training was stopped. <button type="button" onClick={now.start}>Train it again</button></p>;
  if (now.state === "training") return <p>Training: step {now.step} of {now.steps || "…"}. <button type="button" onClick={now.stop}>Stop</button></p>;
  return null;
}

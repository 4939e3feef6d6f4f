// Settings of the experiment: each change trains again, and the curves before stay behind the new ones.

import { valueOf } from "../../model/config";
import { METRICS } from "../../model/described";
import { fixed } from "../../model/numbers";
import { FIRST, GROUPS, type Key, type Setting } from "../../model/settings";
import { baseRun, config, configBefore, experiment, previousRun, settingsOf } from "../../state/state";
import { change, view } from "../../state/view";
import { Choice } from "../../draw/dom";
import { TrainingState } from "../../draw/training-state";
import type { Config, Ended } from "../../model/types";

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
  const kind = key.key in view.value.settings ? "is-other" : undefined;
  if (values) {
    const isListed = values.includes(now) || (isOptional && now === null);
    const options = [
      ...(isListed ? [] : [["other", String(JSON.stringify(now))]]),
      ...(isOptional ? [["null", unset ? `unset (${unset})` : "unset"]] : []),
      ...values.map(String).map((value) => [value, names[value] ?? NAMES[value] ?? value]),
    ];
    const choose = (text: string) => set(key, values.find((value) => String(value) === text) ?? null);
    return (
      <Choice
        kind={kind}
        id={id}
        label={name}
        value={isListed ? String(now) : "other"}
        options={options}
        onChoose={choose}
      />
    );
  }
  const limits = (isText ? {} : { type: "number", min: least, max: most, step }) as object;
  return (
    <label class={kind}>
      {name}
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
function Result({ name, ended }: { name: string; ended: Ended }) {
  const measured = ended.best?.held_out ?? ended.held_out ?? ended.train;
  return (
    <tr>
      <th scope="row">
        {name}, {ended.held_out ? "held-out" : "training"} samples
      </th>
      {METRICS.map(([key, , decimals]) => (
        <td key={key}>{Number.isFinite(measured[key]) ? fixed(Number(measured[key]), decimals) : "–"}</td>
      ))}
    </tr>
  );
}

export function Settings() {
  const trained = experiment.value?.outcome;
  const shownSettings = settingsOf(baseRun.value);
  const before = previousRun.value;
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
        <TrainingState />
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

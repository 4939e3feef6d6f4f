// Experiments: the trainings that the settings of the view describe.

import { effect } from "@preact/signals";
import { isLong, stepsOf } from "./config.js";
import { cannot } from "./engine/cannot.js";
import { page } from "./facts.js";
import { inPageWords } from "./parts/settings.jsx";
import {
  baseData,
  configOf,
  dataOf,
  experiment,
  ghost,
  keepOutcome,
  outcomeOf,
  runs,
  settings,
  settingsOf,
} from "./state.js";
import { Training } from "./training.js";

/** @type {Training | null} */
let running = null;

/** Trains what the settings of the view describe, unless that is at hand. */
export function startExperiments() {
  effect(() => {
    const key = JSON.stringify(settings.value);
    const before = experiment.peek();
    if ((before?.key ?? "{}") === key) return;
    running?.stop();
    running = null;
    if (before?.outcome || key !== "{}") ghost.value = before?.outcome?.run ?? runs.peek()[0] ?? null;
    // What a training on other samples gave is nothing to compare with.
    if (settingsOf(ghost.peek())["data.file"] !== settings.value["data.file"]) ghost.value = null;
    if (key === "{}") {
      experiment.value = null;
      return;
    }
    const known = outcomeOf(key);
    if (known) finish(key, known);
    else begin(key, settings.value);
  });
}

/** @param {string} key @param {Record<string, unknown>} wanted the settings that the key is the text of */
function begin(key, wanted) {
  const config = configOf(wanted);
  if (!config || cannot()) {
    experiment.value = { key, state: "failed", step: 0, steps: 0, why: cannot() ?? "this page holds only recordings" };
    return;
  }
  const data = dataOf(wanted);
  if ("data.file" in wanted && !data) {
    experiment.value = {
      key,
      state: "failed",
      step: 0,
      steps: 0,
      why: `the address does not hold the samples of ${wanted["data.file"]}; give them again in the tab Experiment`,
    };
    return;
  }
  const start = async () => {
    const training = (running = new Training(
      {
        config,
        data,
        facts: { name: "experiment", token_strings: data === baseData() ? (page.runs[0]?.token_strings ?? {}) : {} },
      },
      (step, steps) => {
        if (running === training) experiment.value = { key, state: "training", step, steps, stop };
      },
    ));
    const stop = () => {
      training.stop();
      experiment.value = { key, state: "stopped", step: 0, steps: 0, start };
    };
    experiment.value = { key, state: "training", step: 0, steps: 0, stop };
    try {
      const outcome = await training.outcome;
      if (!outcome || running !== training) return;
      keepOutcome(key, outcome);
      finish(key, outcome);
    } catch (error) {
      if (running === training)
        experiment.value = {
          key,
          state: "failed",
          step: 0,
          steps: 0,
          why: inPageWords(/** @type {Error} */ (error).message),
        };
    }
  };
  if (!isLong(config, stepsOf(config, data))) start();
  else experiment.value = { key, state: "asks", step: 0, steps: 0, start };
}

/** @param {string} key @param {import("./training.js").Outcome} outcome */
function finish(key, outcome) {
  experiment.value = { key, state: "trained", step: outcome.run.last, steps: outcome.run.last, outcome };
}

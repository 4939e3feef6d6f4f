// Experiments: the trainings that the settings of the view describe.

import { effect } from "@preact/signals";
import { isLong, stepsOf, valueOf } from "../model/config";
import { whyNoEngine } from "../engine/support";
import { page } from "../model/facts";
import { inPageWords } from "../model/settings";
import {
  baseData,
  configBefore,
  configOf,
  dataOf,
  experiment,
  previousRun,
  keepOutcome,
  outcomeOf,
  runs,
  settings,
  settingsOf,
  type Experiment,
} from "./state";
import { Training, type Outcome } from "../sources/training";
import { change, view } from "./view";

let running: Training | null = null;

/** Trains what the settings of the view describe, unless that is at hand. */
export function startExperiments() {
  effect(() => {
    const key = JSON.stringify(settings.value);
    const before = experiment.peek();
    if ((before?.key ?? "{}") === key) return;
    running?.stop();
    running = null;
    if (before?.outcome || key !== "{}") previousRun.value = before?.outcome?.run ?? runs.peek()[0] ?? null;
    // What a training on other samples gave is nothing to compare with.
    if (settingsOf(previousRun.peek())["data.file"] !== settings.value["data.file"]) previousRun.value = null;
    if (key === "{}") {
      experiment.value = null;
      return;
    }
    const known = outcomeOf(key);
    if (known) finish(key, known);
    else begin(key, settings.value);
  });
}

/** @param wanted the settings that the key is the text of */
function begin(key: string, wanted: Record<string, unknown>) {
  const become = (state: Experiment["state"], more?: Partial<Experiment>) => {
    experiment.value = { key, state, step: 0, steps: 0, ...more };
  };
  const config = configOf(wanted);
  const data = dataOf(wanted);
  if (!config || whyNoEngine()) return become("failed", { why: whyNoEngine() ?? "this page holds only recordings" });
  if ("data.file" in wanted && !data)
    return become("failed", {
      why: `the address does not hold the samples of ${wanted["data.file"]}; give them again in the tab Experiment`,
    });
  const start = async () => {
    const token_strings = data === baseData() ? (page.runs[0]?.token_strings ?? {}) : {};
    const training = (running = new Training(
      { config, data, facts: { name: "experiment", token_strings } },
      (step, steps) => {
        if (running === training) become("training", { step, steps, stop });
      },
    ));
    const stop = () => {
      training.stop();
      become("stopped", { start });
    };
    become("training", { stop });
    try {
      const outcome = await training.outcome;
      if (!outcome || running !== training) return;
      keepOutcome(key, outcome);
      finish(key, outcome);
    } catch (error) {
      if (running === training) become("failed", { why: inPageWords((error as Error).message) });
    }
  };
  if (isLong(config, stepsOf(config, data))) become("asks", { start });
  else start();
}

function finish(key: string, outcome: Outcome) {
  const { last } = outcome.run;
  experiment.value = { key, state: "trained", step: last, steps: last, outcome };
}

/** Shows the training with a seed: the page's own run for its own seed, if nothing else is changed. */
export function openSeed(seed: number) {
  const base = configBefore(view.value.settings);
  if (!base) return;
  const { seed: _, ...others } = view.value.settings;
  change({ settings: valueOf(base, "seed") === seed ? others : { ...others, seed } });
}

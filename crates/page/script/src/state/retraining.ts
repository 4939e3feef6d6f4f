// The page's own run: recorded numbers first, and then the page trains it again, to compare the weights.

import { whyNoEngine } from "../engine/support";
import { prepareWorker } from "../engine/workers";
import { isLong, stepsOf } from "../model/config";
import { page } from "../model/facts";
import { baseConfig, baseData, keepOutcome, openAddress, origin, runs, trainedHash } from "./state";
import { Training } from "../sources/training";
import type { Run } from "../model/run";
import type { Config } from "../model/types";

const BADGES = { live: "Live", differs: "Differs", recorded: "Recorded", training: "Training" };

/** Says once how the page's numbers came about, for readers and for scripts. */
function settle(kind: "live" | "differs" | "recorded", text: string, brief?: string) {
  Object.assign(document.documentElement.dataset, { run: kind, settled: performance.now().toFixed(1) });
  origin.value = { kind, badge: BADGES[kind], text, brief };
}

/** Whether the page's own training takes so long that the reader is asked first. */
const takesLong = () =>
  isLong(baseConfig() as Config, page.runs[0]?.again?.live?.steps ?? stepsOf(baseConfig() as Config, baseData()));

/** Has a worker stand ready while the page is drawn, if the page will train at once. */
export function prepareLive() {
  // If a worker cannot start, the training reports it.
  if (!page.runs[0]?.again?.recorded && !whyNoEngine() && !takesLong()) prepareWorker().catch(() => {});
}

export function startLive() {
  const why = whyNoEngine();
  const reason =
    page.runs[0]?.again?.recorded ??
    (why && (page.lab ? `this page cannot train: ${why}` : `${why}, so that the page cannot train the run again`));
  if (reason) return settle("recorded", `${reason}.`);
  if (!takesLong()) return train();
  const badge = page.lab ? "Long" : BADGES.recorded;
  origin.value = {
    kind: "training",
    badge,
    text: "this training may take long, so the page waits for you.",
    ask: train,
  };
}

/** Trains the page's own run, and compares the weights. */
async function train() {
  const live = page.runs[0]?.again?.live;
  const config = baseConfig() as Config;
  const facts = page.runs[0];
  const { name, token_strings, evidence, classes, best, samples, strongest, outcome } = facts ?? {};
  const training = new Training(
    {
      config,
      steps: live?.steps,
      // The same samples as in the recording.
      tokens: live && samples.map((sample) => sample.tokens),
      keep: live && best,
      data: baseData(),
      facts: live
        ? { name, token_strings, evidence, classes, best, samples, strongest, outcome }
        : { name: page.lab?.name },
    },
    (step, steps) => {
      origin.value = { ...origin.value, progress: [step, steps] };
    },
  );
  const stop = () => {
    training.stop();
    settle("recorded", live ? "the training of this page was stopped." : "the training was stopped.");
  };
  const [badge, what] = live ? [BADGES.recorded, "run again"] : [BADGES.training, "model"];
  origin.value = { kind: "training", badge, text: `the page trains the ${what}.`, stop };
  try {
    const outcome = await training.outcome;
    if (!outcome) return;
    const found = (trainedHash.value = outcome.ended.weights_sha256);
    if (live && found !== live.weights_sha256) {
      return settle(
        "differs",
        `the page trained the run again and got other weights. SHA-256 of model.safetensors: ${live.weights_sha256}; here: ${found}. The page shows what was recorded.`,
      );
    }
    keepOutcome("{}", outcome);
    runs.value = [outcome.run];
    // Without a recording, the address has waited for a run to show.
    if (!live) openAddress();
    settle(
      "live",
      live
        ? `the page has trained this run again, and its weights are the same bytes as model.safetensors (SHA-256 ${found.slice(0, 12)}…). It computes its numbers itself, ${everyStep(outcome.run)}.`
        : `the page trained this model itself (SHA-256 of its weights ${found.slice(0, 12)}…), and computes its numbers, ${everyStep(outcome.run)}.`,
      live ? "trained again in this page, to the same weights." : "trained in this page.",
    );
  } catch (error) {
    settle(
      "recorded",
      `${live ? "the page could not train the run again" : "the page could not train"} (${(error as Error).message}).`,
    );
  }
}

const everyStep = (run: Run) =>
  run.times.length === run.last + 1 ? "at each step" : `at ${run.times.length} of its ${run.last + 1} steps`;

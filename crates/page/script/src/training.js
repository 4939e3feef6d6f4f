// Trainings of the page: of its own run, to compare the weights, and of the reader's experiments.

import { givenOf, logitsOf } from "./config.js";
import { sizeOf } from "./engine/lab.js";
import { newWorker, ownLab, prepareWorker } from "./engine/workers.js";
import { Run } from "./run.js";
import { Live } from "./sources/live.js";

/** @typedef {import("./engine/workers.js").LabWorker} LabWorker */
/** @typedef {import("./engine/lab.js").Lab} Lab */

// How far a training is shows once it has taken so long, in milliseconds: each message takes time from what is shown.
const SHORT = 100;
// The worker of the next training starts when the page has shown this one.
const REST = 300;

/** What a training is of. @typedef {object} Task
 * @property {Config} config
 * @property {number} [steps] fewer than all
 * @property {number[][]} [tokens] whole samples to watch; without them, those of a run's dumps
 * @property {number} [keep] a step that is kept in any case
 * @property {import("./config.js").Data} [data] the samples, if they come from a file
 * @property {Partial<Facts>} [facts] facts that the config does not tell: names, evidence
 */

/** How a training ended. @typedef {object} Outcome
 * @property {Run} run
 * @property {any} ended the answer to `end`: the hash of the weights, and metrics
 * @property {() => void} end stops its worker, which computes curves
 */

/** A training in progress. */
export class Training {
  #stopped = false;

  /** @param {Task} task @param {(step: number, steps: number) => void} told */
  constructor(task, told = () => {}) {
    this.task = task;
    /** @type {LabWorker | undefined} */
    this.worker = undefined;
    /** @type {Promise<Outcome | null>} null if it was stopped */
    this.outcome = this.#train(told);
  }

  /** @param {(step: number, steps: number) => void} told @returns {Promise<Outcome | null>} */
  async #train(told) {
    const { config, steps, tokens, keep, data } = this.task;
    const began = performance.now();
    const worker = (this.worker = await newWorker());
    const lab = await ownLab();
    if (this.#stopped) {
      worker.stop();
      return null;
    }
    /** @type {any} */
    let begun;
    /** @type {any[]} */
    const parts = [];
    const ended = worker.run({ name: "train", config, steps, tokens, keep, samples: givenOf(data) }, (heard) => {
      if (heard.begun) begun = heard.begun;
      if (heard.part) {
        parts.push(heard.part);
        if (performance.now() - began > SHORT) told(heard.part.step, begun.steps);
      }
    });
    try {
      const answer = await Promise.race([
        ended,
        new Promise((resolve) => {
          this.stopped = resolve;
        }),
      ]);
      if (this.#stopped) return null;
      setTimeout(prepareWorker, REST);
      return outcomeOf(this.task, begun, parts, answer, lab, worker);
    } catch (error) {
      worker.stop();
      throw error;
    }
  }

  stop() {
    this.#stopped = true;
    this.stopped?.(null);
    this.worker?.stop();
  }

  /** @type {((nothing: null) => void) | undefined} */
  stopped;
}

/** @param {Task} task @param {any} begun @param {any[]} parts @param {any} ended @param {Lab} lab @param {LabWorker} worker @returns {Outcome} */
function outcomeOf({ config, facts, data }, begun, parts, ended, lab, worker) {
  const size = sizeOf(begun.row);
  const steps = parts.flatMap(({ kept, losses, floats }) =>
    kept.map((/** @type {number} */ _, /** @type {number} */ index) => ({ floats, start: losses + index * size })),
  );
  const losses = parts.flatMap(({ losses, floats }) =>
    Array.from(/** @type {Float32Array} */ (floats).subarray(0, losses)),
  );
  const source = new Live(
    { config, row: begun.row, parameters: begun.parameters, steps, lab, worker, given: givenOf(data) },
    begun.samples.length,
  );
  const own = factsOf(
    config,
    begun,
    parts.flatMap(({ kept }) => kept),
    losses,
  );
  const words = data && !("table" in data) ? data.words : undefined;
  return {
    run: new Run(
      {
        ...own,
        question: begun.question ?? "",
        best: ended.best?.step,
        held_out: data && "table" in data,
        ended,
        token_strings: words ?? {},
        ...facts,
      },
      source,
    ),
    ended,
    end: () => worker.stop(),
  };
}

/** The facts of a training of this page. @param {Config} config @param {any} begun @param {number[]} steps @param {number[]} losses @returns {Facts} */
function factsOf(config, begun, steps, losses) {
  const { model, data } = config;
  const d_head = model.d_head ?? model.d_model / model.n_heads;
  const { scale, temperature = 1 } = model.attention ?? {};
  const factor = scale === false ? 1 : typeof scale === "number" ? scale : 1 / Math.sqrt(d_head);
  const text = scale === false ? "1 (scale off)" : typeof scale === "number" ? String(scale) : `1 / √${d_head}`;
  return {
    name: "this experiment",
    seed: config.seed,
    layers: model.n_layers,
    heads: model.n_heads,
    positions: begun.inputs.positions,
    d_head,
    d_model: model.d_model,
    has_feed_forward: (model.d_ff ?? 0) > 0,
    factor: factor / temperature,
    factor_text: temperature === 1 ? text : `${text} / temperature ${temperature}`,
    norm_eps: model.layer_norm_eps ?? 1e-6,
    steps,
    vectors: steps.map((_, at) => at),
    vector_arrays: [],
    masked: begun.mask.length > 0,
    logits: logitsOf(config),
    task: data.task,
    classes: data.classes ?? [],
    samples: begun.samples,
    token_strings: {},
    cls: begun.inputs.cls ?? null,
    read: begun.inputs.read,
    model,
    loss: losses.map((loss, index) => ({ step: index + 1, loss })),
    loss_over: "the samples of each batch",
    evidence: [{ name: "Config, as resolved", text: JSON.stringify(config, null, 2) }],
    notes: ["The page trained this model itself, and computed all numbers."],
    config,
  };
}

// Trainings of the page: of its own run, to compare the weights, and of the reader's experiments.

import { givenOf, logitsOf, type Data } from "../model/config";
import { sizeOf, type Lab } from "../engine/lab";
import { newWorker, pageLab, prepareWorker, type LabWorker } from "../engine/workers";
import { Run } from "../model/run";
import { Live } from "./live";
import type { Begun, Config, Ended, Facts, Part } from "../model/types";

type KeptPart = Part & { floats: Float32Array };

// How far a training is shows once it has taken so long, in milliseconds: each message takes time from what is shown.
const QUIET_MS = 100;
// The worker of the next training starts when the page has shown this one.
const NEXT_WORKER_MS = 300;

/** What a training is of. */
interface Task {
  config: Config;
  steps?: number;
  /** Whole samples to watch; without them, those of a run's dumps. */
  tokens?: number[][];
  keep?: number;
  data?: Data;
  /** Facts that the config does not tell: names, evidence. */
  facts?: Partial<Facts>;
}

/** How a training ended. */
export type Outcome = { run: Run; ended: Ended; end: () => void };

/** A training in progress. */
export class Training {
  worker: LabWorker | undefined;
  /** Null if it was stopped. */
  outcome: Promise<Outcome | null>;

  #stopped = false;

  constructor(
    readonly task: Task,
    onProgress: (step: number, steps: number) => void = () => {},
  ) {
    this.outcome = this.#train(onProgress);
  }

  async #train(onProgress: (step: number, steps: number) => void): Promise<Outcome | null> {
    const { config, steps, tokens, keep, data } = this.task;
    const began = performance.now();
    const worker = (this.worker = await newWorker());
    const lab = await pageLab();
    if (this.#stopped) worker.stop();
    let begun!: Begun;
    const parts: KeptPart[] = [];
    try {
      const task = { name: "train" as const, config, steps, tokens, keep, samples: givenOf(data) };
      const ended = await worker.send({ task }, (answer) => {
        if (answer.begun) begun = answer.begun;
        if (answer.part) {
          parts.push(answer.part);
          if (performance.now() - began > QUIET_MS) onProgress(answer.part.step, begun.steps);
        }
      });
      setTimeout(prepareWorker, NEXT_WORKER_MS);
      return outcomeOf(this.task, begun, parts, ended, lab, worker);
    } catch (error) {
      worker.stop();
      if (this.#stopped) return null;
      throw error;
    }
  }

  stop() {
    this.#stopped = true;
    this.worker?.stop();
  }
}

function outcomeOf(
  { config, facts, data }: Task,
  begun: Begun,
  parts: KeptPart[],
  ended: Ended,
  lab: Lab,
  worker: LabWorker,
) {
  const size = sizeOf(begun.row);
  const steps = parts.flatMap(({ kept, losses, floats }) =>
    kept.map((_, index) => ({ floats, start: losses + index * size })),
  );
  const losses = parts.flatMap(({ losses, floats }) => Array.from(floats.subarray(0, losses)));
  const source = new Live(
    { config, row: begun.row, parameters: begun.parameters, steps, lab, worker, given: givenOf(data) },
    begun.samples.length,
  );
  const kept = parts.flatMap(({ kept }) => kept);
  const own = factsOf(config, begun, kept, losses);
  const words = data && !("table" in data) ? data.words : undefined;
  return {
    run: new Run(
      {
        ...own,
        question: begun.question ?? "",
        best: ended.best?.step,
        held_out: data && "table" in data && Boolean(config.data.words),
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

/** The facts of a training of this page. */
function factsOf(config: Config, begun: Begun, steps: number[], losses: number[]): Facts {
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
    loss_over: `the samples of each batch${Object.keys(config.training.dropout ?? {}).length ? ", with dropout" : ""}`,
    evidence: [{ name: "Config, as resolved", text: JSON.stringify(config, null, 2) }],
    notes: ["The page trained this model itself, and computed all numbers.", ...begun.repetitions],
    config,
  };
}

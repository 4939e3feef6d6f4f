// Trainings of many seeds: what came of each.

import { signal } from "@preact/signals";
import { givenOf } from "./config.js";
import { newWorker } from "./engine/workers.js";
import { known } from "./kept.js";

/** What came of a seed. @typedef {object} Seed
 * @property {number} seed
 * @property {string} [failed] why its training failed
 * @property {Metrics} train
 * @property {Metrics | null} held_out
 * @property {{ positive: number[] | null, negative: number[] | null }} attention of the position that the class is read from in the last block, mean over heads and training samples
 * @property {boolean} learned whether it learned its task, as the core decides
 * @property {number} learned_from the F1 from which it does
 * @property {string} weights_sha256
 */
/** Metrics by their keys in `METRICS`. @typedef {Record<string, number | null> & { loss: number, f1: number | null }} Metrics */

/** @typedef {{ name: "new" | "training" | "stopped" | "ended" | "failed", why?: string }} State */

const WORKERS = 2;
// The number of seeds that a worker gets at a time.
const PART = 4;
// The shortest time between two updates of the dots, in milliseconds.
const PAUSE = 80;

/** The seeds of a config. */
export class Swarm {
  /** The seeds that did not fail, in the order in which they arrived. @type {import("@preact/signals").Signal<Seed[]>} */
  seeds = signal([]);
  /** @type {import("@preact/signals").Signal<Seed[]>} */
  failed = signal([]);
  /** How many seeds are asked for. */
  wanted = signal(0);
  /** @type {import("@preact/signals").Signal<State>} */
  state = signal({ name: "new" });
  /** @type {import("./engine/workers.js").LabWorker[]} */
  #workers = [];
  #next = 0;
  #began = 0;
  #startedAt = 0;
  /** The seconds that a seed took here; none before the first ones. @type {number | null} */
  #pace = null;
  /** @type {(nothing: null) => void} */
  #halt = () => {};

  /** The positions that decide the label, if all samples have the same ones. @type {number[]} */
  positions = [];
  /** Uniform attention on them. */
  uniform = NaN;

  /** @param {Config} config @param {import("./config.js").Data} [data] */
  constructor(config, data) {
    this.config = config;
    this.data = data;
  }

  get count() {
    return this.seeds.value.length + this.failed.value.length;
  }

  stop() {
    this.state.value = { name: "stopped" };
    this.#halt(null);
    for (const worker of this.#workers) worker.stop();
    this.#workers = [];
  }

  /** The seconds that the rest will take, as far as can be told. */
  get remaining() {
    return this.#pace && this.#pace * (this.wanted.value - this.count);
  }

  /** Trains the seeds from 0 to a count. @param {number} wanted */
  async start(wanted) {
    this.wanted.value = wanted;
    this.state.value = { name: "training" };
    const done = new Set([...this.seeds.value, ...this.failed.value].map(({ seed }) => seed));
    const seeds = Array.from({ length: this.wanted.value }, (_, seed) => seed).filter((seed) => !done.has(seed));
    this.#began = this.count;
    this.#startedAt = performance.now();
    this.#next = 0;
    /** @type {Seed[]} */
    let heard = [];
    const show = () => {
      const failed = heard.filter((seed) => seed.failed !== undefined);
      if (failed.length) this.failed.value = [...this.failed.value, ...failed];
      if (heard.length > failed.length)
        this.seeds.value = [...this.seeds.value, ...heard.filter((seed) => seed.failed === undefined)];
      heard = [];
      this.#pace = (performance.now() - this.#startedAt) / 1000 / (this.count - this.#began);
    };
    const timer = setInterval(() => {
      if (heard.length) show();
    }, PAUSE);
    try {
      const workers = await Promise.all(Array.from({ length: Math.min(WORKERS, seeds.length) }, newWorker));
      this.#workers = workers;
      if (this.state.value.name !== "training") return;
      const { config, data } = this;
      const samples = givenOf(data);
      await Promise.race([
        Promise.all(
          workers.map(async (worker) => {
            while (this.#next < seeds.length) {
              const part = seeds.slice(this.#next, (this.#next += PART));
              await worker.run({ name: "seeds", config, seeds: part, samples }, ({ seed }) => {
                if (seed) heard.push(seed);
              });
            }
          }),
        ),
        new Promise((resolve) => {
          this.#halt = resolve;
        }),
      ]);
      show();
      if (this.state.value.name === "training") this.state.value = { name: "ended" };
    } catch (error) {
      this.state.value = { name: "failed", why: /** @type {Error} */ (error).message };
    } finally {
      clearInterval(timer);
      for (const worker of this.#workers) worker.stop();
      this.#workers = [];
    }
  }
}

/** @type {Map<string, Swarm>} */
const swarms = new Map();
const MOST_SWARMS = 4;

/** The seeds of a config, whatever its own seed; the training of another config's seeds stops. @param {Config} config @param {import("./config.js").Data} [data] */
export function swarmOf(config, data) {
  const { seed, ...others } = config;
  const key = JSON.stringify(others);
  for (const [name, swarm] of swarms) if (name !== key && swarm.state.peek().name === "training") swarm.stop();
  return known(swarms, MOST_SWARMS, key, () => new Swarm(config, data));
}

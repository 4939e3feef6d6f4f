// Trainings of many seeds: what came of each.

import { signal } from "@preact/signals";
import { givenOf, type Data } from "../../model/config";
import { newWorker, type LabWorker } from "../../engine/workers";
import { cached } from "../../model/cache";
import type { Config, Results } from "../../model/types";

/** What came of a seed, or why its training failed. */
export type Seed = Results & { seed: number; failed?: string };

type State = { name: "new" | "training" | "stopped" | "ended" | "failed"; why?: string };

const WORKERS = 2;
// The number of seeds that a worker gets at a time.
const SEEDS_PER_TASK = 4;
// The shortest time between two updates of the dots, in milliseconds.
const UPDATE_MS = 80;

/** The seeds of a config. */
export class Swarm {
  /** The seeds that did not fail, in the order in which they arrived. */
  seeds = signal<Seed[]>([]);
  failed = signal<Seed[]>([]);
  /** How many seeds are asked for. */
  wanted = signal(0);
  state = signal<State>({ name: "new" });
  #workers: LabWorker[] = [];
  #next = 0;
  #began = 0;
  #startedAt = 0;
  /** The seconds that a seed took here; none before the first ones. */
  #pace: number | null = null;
  #halt: (nothing: null) => void = () => {};

  /** The positions that decide the label, if all samples have the same ones. */
  positions: number[] = [];
  /** Uniform attention on them. */
  uniform = NaN;

  constructor(
    readonly config: Config,
    readonly data?: Data,
  ) {}

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

  /** Trains the seeds from 0 to a count. */
  async start(wanted: number) {
    this.wanted.value = wanted;
    this.state.value = { name: "training" };
    const done = new Set([...this.seeds.value, ...this.failed.value].map(({ seed }) => seed));
    const seeds = Array.from({ length: this.wanted.value }, (_, seed) => seed).filter((seed) => !done.has(seed));
    this.#began = this.count;
    this.#startedAt = performance.now();
    this.#next = 0;
    let arrived: Seed[] = [];
    const show = () => {
      const failed = arrived.filter((seed) => seed.failed !== undefined);
      if (failed.length) this.failed.value = [...this.failed.value, ...failed];
      if (arrived.length > failed.length)
        this.seeds.value = [...this.seeds.value, ...arrived.filter((seed) => seed.failed === undefined)];
      arrived = [];
      this.#pace = (performance.now() - this.#startedAt) / 1000 / (this.count - this.#began);
    };
    const timer = setInterval(() => {
      if (arrived.length) show();
    }, UPDATE_MS);
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
              const part = seeds.slice(this.#next, (this.#next += SEEDS_PER_TASK));
              await worker.send({ task: { name: "seeds", config, seeds: part, samples } }, ({ seed }) => {
                if (seed) arrived.push(seed);
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
      this.state.value = { name: "failed", why: (error as Error).message };
    } finally {
      clearInterval(timer);
      for (const worker of this.#workers) worker.stop();
      this.#workers = [];
    }
  }
}

const swarms = new Map<string, Swarm>();
const MAX_SWARMS = 4;

/** The seeds of a config, whatever its own seed; the training of another config's seeds stops. */
export function swarmOf(config: Config, data?: Data) {
  const { seed, ...others } = config;
  const key = JSON.stringify(others);
  for (const [name, swarm] of swarms) if (name !== key && swarm.state.peek().name === "training") swarm.stop();
  return cached(swarms, MAX_SWARMS, key, () => new Swarm(config, data));
}

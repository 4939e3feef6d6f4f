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
      if (!arrived.length) return;
      const [learned, failed] = [false, true].map((is) => arrived.filter((seed) => (seed.failed !== undefined) === is));
      this.seeds.value = [...this.seeds.value, ...learned];
      if (failed.length) this.failed.value = [...this.failed.value, ...failed];
      arrived = [];
      this.#pace = (performance.now() - this.#startedAt) / 1000 / (this.count - this.#began);
    };
    const timer = setInterval(show, UPDATE_MS);
    const samples = givenOf(this.data);
    const train = async (worker: LabWorker) => {
      while (this.#next < seeds.length) {
        const part = seeds.slice(this.#next, (this.#next += SEEDS_PER_TASK));
        const task = { name: "seeds" as const, config: this.config, seeds: part, samples };
        await worker.send({ task }, ({ seed }) => {
          if (seed) arrived.push(seed);
        });
      }
    };
    let why = "";
    try {
      this.#workers = await Promise.all(Array.from({ length: Math.min(WORKERS, seeds.length) }, newWorker));
      if (this.state.value.name === "training") await Promise.all(this.#workers.map(train));
    } catch (error) {
      why = (error as Error).message;
    }
    clearInterval(timer);
    show();
    for (const worker of this.#workers) worker.stop();
    this.#workers = [];
    if (this.state.value.name === "training") this.state.value = { name: why ? "failed" : "ended", why };
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

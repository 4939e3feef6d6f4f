// The numbers of a training that the page made itself: of every step, of any sample, and with the reader's changes.

import { signal } from "@preact/signals";
import { logitsOf } from "../model/config";
import { partsOf, sizeOf, type Lab } from "../engine/lab";
import { cached } from "../model/cache";
import type { LabWorker } from "../engine/workers";
import type { Arrays, Config, Interventions, Look, Row, Sample, Show, Source, WordSentences } from "../model/types";

const NAMES = { scores: "attention_scores", weights: "attention_weights" };
// Looks at single steps that are kept: about a second of playing.
const MAX_LOOKS = 64;

// As many sentences as a plane still shows one by one.
const MAX_OCCURRENCES = 60;

/** What a training gave. */
interface Trained {
  config: Config;
  row: Row;
  parameters: [string, number[]][];
  steps: { floats: Float32Array; start: number }[];
  lab: Lab;
  worker: LabWorker;
  given?: unknown;
}

type Watched = { floats: Float32Array; size: number; starts: Record<string, number>; index: number };

export class Live implements Source {
  kind = "live" as const;
  isChanged = Object.keys(this.changes).length > 0;
  config = changedConfig(this.trained.config, this.changes);
  shape = shapeOf(this.trained.config);
  logits = logitsOf(this.config);
  answers = this.config.data.task ? this.shape.positions : 1;
  weightCount = this.trained.row[0][1];
  starts = startsOf(this.trained.row);
  /** Counts curves that arrived; who reads it is shown again then. */
  arrived = signal(0);
  /** Rows of all steps of samples that were not watched while training; null while they are computed, false if they cannot be. */
  #watched = new Map<string, Watched | null | false>();
  /** Samples to compute together. */
  #asked: Sample[] = [];
  /** The mask of all samples, if it is the same for all. */
  #mask: number[] | null = null;
  #looks = new Map<string, Look>();
  #found = new Map<number, WordSentences>();

  /** @param samples how many samples the rows hold @param find the sample of a key, for patches */
  constructor(
    readonly trained: Trained,
    readonly samples: number,
    readonly changes: Interventions = {},
    readonly find: (key: string) => Sample | null = () => null,
  ) {}

  /** The weights of a step. */
  weightsAt(at: number) {
    const { floats, start } = this.trained.steps[at];
    return floats.subarray(start, start + this.weightCount);
  }

  /** The numbers that hold an array of a sample at a step, where the array begins in them, and the sample's place in it. Curves ask this for each step and sample. */
  #holding(name: string, at: number, sample: Sample): [Float32Array, number, number] {
    if (sample.index !== null && !this.isChanged) {
      const { floats, start } = this.trained.steps[at];
      return [floats, start + this.starts[name], sample.index];
    }
    const watched = this.#watched.get(sample.key);
    if (watched) return [watched.floats, at * watched.size + watched.starts[name], watched.index];
    return [this.look(at, sample).arrays[name], 0, 0];
  }

  row(name: Show, at: number, sample: Sample, layer: number, head: number, query: number): Float64Array {
    const [floats, first, index] = this.#holding(NAMES[name], at, sample);
    const { heads, layers, positions } = this.shape;
    const start = first + (((index * layers + layer) * heads + head) * positions + query) * positions;
    // Curves are made of very many short rows, which a loop copies fastest.
    const found = new Float64Array(positions);
    for (let key = 0; key < positions; key++) found[key] = floats[start + key];
    return found;
  }

  weight(at: number, sample: Sample, layer: number, head: number, query: number, key: number): number {
    const [floats, first, index] = this.#holding(NAMES.weights, at, sample);
    const { heads, layers, positions } = this.shape;
    return floats[first + (((index * layers + layer) * heads + head) * positions + query) * positions + key];
  }

  results(name: "logits" | "probabilities", at: number, sample: Sample): number[] {
    const [floats, first, index] = this.#holding(name, at, sample);
    const found = [];
    const start = first + (index * this.answers + (sample.asked ?? 0)) * this.logits;
    for (let logit = 0; logit < this.logits; logit++) found.push(floats[start + logit]);
    return found;
  }

  arrays(at: number, sample: Sample): Arrays | null {
    return this.look(at, sample).arrays;
  }

  /** All arrays of a sample at a step, with its mask and labels. */
  look(at: number, sample: Sample): Look {
    const ask = () => this.#ask(at, sample.tokens, this.interventions(at));
    return cached(this.#looks, MAX_LOOKS, `${at},${sample.key}`, ask);
  }

  #ask(at: number, tokens: number[], interventions: unknown[]): Look {
    const answer = this.trained.lab.ask(
      { operation: "look", config: this.config, tokens: [tokens], interventions },
      this.weightsAt(at),
    );
    return { ...answer, arrays: partsOf(answer.arrays, answer.floats) };
  }

  /** The reader's changes as `crates/lab` takes them. */
  interventions(at: number) {
    const { heads = [], keys = [], rows = [], patches = [] } = this.changes;
    const { layers } = this.shape;
    const everywhere = Array.from({ length: layers }, (_, layer) => layer);
    return [
      ...heads.map(([layer, head]) => ({ ablate_head: { layer, head } })),
      ...keys.flatMap((position) => everywhere.map((layer) => ({ mask_key: { layer, position } }))),
      ...rows.map((row) => ({ set_attention: row })),
      ...patches.flatMap(({ place, layer, position, from }) => {
        const donor = this.find(from);
        if (!donor) return [];
        const { arrays } = this.#ask(at, donor.tokens, []);
        const width = this.config.model.d_model;
        const values =
          place === "context"
            ? contextOf(arrays.context, this.shape, layer, position)
            : arrays[place]
                .subarray(((place === "embeddings" ? 0 : layer * this.shape.positions) + position) * width)
                .subarray(0, width);
        return [{ patch: { place, layer, position, vector: Array.from(values) } }];
      }),
    ];
  }

  judge(tokens: number[]) {
    if (tokens.some((token) => !Number.isInteger(token) || token < 0)) throw new Error("a token is a whole number");
    const { judged } = this.#ask(0, tokens, []);
    return judged?.[0] ?? [];
  }

  allows(sample: Sample, query: number, key: number): boolean {
    if (this.changes.keys?.includes(key)) return false;
    const mask = this.#mask ?? this.#maskOf(sample);
    return !mask.length || mask[query * this.shape.positions + key] === 1;
  }

  #maskOf(sample: Sample): number[] {
    const { mask } = this.look(0, sample);
    // A mask depends on the sample only where padding is masked.
    if (this.config.model.attention?.padding_token == null) this.#mask = mask;
    return mask;
  }

  covers(sample: Sample) {
    if (sample.index !== null && !this.isChanged) return true;
    if (!this.#watched.has(sample.key)) {
      this.#watched.set(sample.key, null);
      if (this.#asked.push(sample) === 1) queueMicrotask(() => this.#watch(this.#asked.splice(0)));
    }
    const found = this.#watched.get(sample.key);
    return found === false ? null : found !== null;
  }

  /** Computes all steps of samples, in the worker. */
  async #watch(samples: Sample[]) {
    // A patch has another vector at each step, so its curve is that of the last step's vector.
    const head = {
      operation: "watch",
      config: this.config,
      tokens: samples.map(({ tokens }) => tokens),
      interventions: this.interventions(this.trained.steps.length - 1),
    };
    try {
      const { row, floats } = await this.trained.worker.send({ task: { name: "watch", head } });
      const [size, starts] = [sizeOf(row), startsOf(row)];
      for (const [index, { key }] of samples.entries()) this.#watched.set(key, { floats, size, starts, index });
    } catch {
      // Single steps can still be looked at.
      for (const { key } of samples) this.#watched.set(key, false);
    }
    this.arrived.value++;
  }

  parameter(name: string, at: number): { shape: number[]; values: Float32Array } | null {
    let start = 0;
    for (const [own, shape] of this.trained.parameters) {
      const size = shape.reduce((product, side) => product * side, 1);
      if (own === name) return { shape, values: this.weightsAt(at).subarray(start, start + size) };
      start += size;
    }
    return null;
  }

  /** Samples that hold a token, as the lab finds them: held-out ones, if there are any. */
  found(token: number): WordSentences {
    const { lab, config, given } = this.trained;
    const ask = () => lab.ask({ operation: "find", config, samples: given, token, most: MAX_OCCURRENCES });
    return cached(this.#found, MAX_LOOKS, token, ask);
  }

  /** Where the vectors of a token lie at a step, in the samples that hold it, without the reader's changes. */
  planes(token: number, at: number) {
    const { lab, config } = this.trained;
    return lab.ask({ operation: "planes", config, tokens: this.found(token).samples, token }, this.weightsAt(at));
  }

  /** The same training with other changes. */
  changed(changes: Interventions, find: (key: string) => Sample | null) {
    return new Live(this.trained, this.samples, changes, find);
  }
}

const shapeOf = ({ model, data }: Config) => ({
  heads: model.n_heads as number,
  layers: model.n_layers as number,
  positions: data.seq_len + (data.cls === "none" ? 0 : 1),
});

/** Where the parts of a row begin. */
function startsOf(row: Row): Record<string, number> {
  let start = 0;
  return Object.fromEntries(row.map(([name, length]) => [name, (start += length) - length]));
}

/** A temperature and a causal mask are keys of the config. */
function changedConfig(config: Config, { temperature = 1, causal = false }: Interventions) {
  if (temperature === 1 && !causal) return config;
  const { attention } = config.model;
  const mask = causal ? "causal" : attention.mask;
  const changed = { ...attention, mask, temperature: (attention.temperature ?? 1) * temperature };
  return { ...config, model: { ...config.model, attention: changed } };
}

/** A layer's context of a position, head after head. @param context `[layer, head, position, d_head]` */
function contextOf(
  context: Float32Array,
  { heads, layers, positions }: Live["shape"],
  layer: number,
  position: number,
) {
  const width = context.length / (layers * heads * positions);
  return Array.from({ length: heads }, (_, head) => {
    const start = ((layer * heads + head) * positions + position) * width;
    return Array.from(context.subarray(start, start + width));
  }).flat();
}

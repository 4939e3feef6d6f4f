// What the page's data look like. `facts.rs` writes the facts; `crates/lab` answers requests.

import type { Signal } from "@preact/signals";

/** A label, and the positions that decide it. */
export type PositionLabel = [label: number | null, marked: number[]];

export interface Sample {
  /** Its name in addresses: its number, or `own-` and its tokens. */
  key: string;
  /** Its index in the training set; null for a sample of the reader. */
  number: number | null;
  /** Null if it is unknown. */
  label: number | null;
  /** With `[CLS]`, if samples have it. */
  tokens: number[];
  /** What the reader typed, or her text has, for tokens that the model does not know, by position; empty for all others. */
  typed?: string[];
  /** The positions that decide the label. */
  marked: number[];
  /** Of each position its label, null where none counts, and the positions that decide it; empty if they are unknown. Absent where samples have one label. */
  each?: PositionLabel[];
  /** The position whose label and answer are meant, if each has one. */
  asked?: number;
  /** Its row in what the source holds; null for a sample of the reader. */
  index: number | null;
}

/** A config as resolved; `config.rs` documents its keys. */
export type Config = Record<string, any>;

/** What a number of a rule counts. */
export type Counts = "token" | "position";

/** A rule that readers can choose (`crates/data/src/rules/kind.rs`). */
export interface RuleChoice {
  title: string;
  question: string;
  parameters: [key: string, name: string, counts: Counts, first: number][];
  n_classes: number;
  needs: [key: string, value: string | number][];
}

export type LossPoint = { step: number; loss: number };

/** The facts of a run: all but its numbers. */
export interface Facts {
  name: string;
  seed: number | null;
  layers: number;
  heads: number;
  positions: number;
  d_head: number;
  d_model: number;
  has_feed_forward: boolean;
  factor: number;
  factor_text: string;
  norm_eps: number;
  /** Null for a dump that no training made. */
  steps: (number | null)[];
  /** The step of the best model, if the run keeps it. */
  best?: number;
  vectors: number[];
  vector_arrays: [string, number][];
  masked: boolean;
  /** Logits of an answer: one for two classes, else one per class. */
  logits: number;
  /** What the model answers at each position; absent if it gives one answer per sample. */
  task?: "token-classification" | "next-token";
  classes: string[];
  samples: Omit<Sample, "key" | "asked" | "index">[];
  token_strings: Record<string, string>;
  /** The position of `[CLS]`; null if samples have none. */
  cls: number | null;
  /** The readout position, if it is not that of `[CLS]`. */
  read?: number;
  /** The config of the model; null or absent where it is not known. */
  model?: Config | null;
  /** The head of the last layer that a recording shows first. */
  strongest?: number;
  loss: LossPoint[];
  loss_over?: string;
  /** With inputs that open as samples. */
  evidence: { name: string; text: string; inputs?: { tokens: number[]; about: string }[] }[];
  /** What its classifier answers; absent for recordings, whose page says it. */
  question?: string;
  /** What came of its training, as its report says it; absent if that is not known. */
  outcome?: string;
  notes: string[];
  /** Set where only weights are known. */
  without_scores?: boolean;
  again?: Retraining;
  config?: Config;
  /** How a training of this page ended. */
  ended?: Ended;
  /** Whether the samples are held-out ones. */
  held_out?: boolean;
}

export interface Retraining {
  live?: { config: Config; steps: number; weights_sha256: string; data?: CarriedSamples };
  recorded?: string;
}

/** Samples of a file that the page carries. Without `[CLS]`. A label is the number of a class; if names of classes are numbers, it is a name. */
export interface CarriedSamples {
  tokens: number[][];
  labels: (number | string)[];
  splits?: string[];
  words?: Record<string, string>;
  classes?: string[];
}

/** A file of texts or token ids of the reader's own, and what the lab says of it. */
export interface UserData {
  /** The file as it is. */
  table: string;
  /** Its SHA-256; empty if it is not known. */
  sha256: string;
  /** Number of samples to train on. */
  count: number;
  /** Of texts that of `headlight train FILE`. */
  config: Config;
  brief: DataInBrief;
}

// What `crates/lab` answers, without the numbers that each answer also has.

/** Names and lengths of the parts of a row of numbers. */
export type Row = [name: string, length: number][];

/** Metrics by their keys in `METRICS`. */
export type Metrics = Record<string, number | null> & { loss: number; f1: number | null };

/** What a model is after a training. */
export interface Results {
  weights_sha256: string;
  train: Metrics;
  held_out: Metrics | null;
  /** Of the readout position in the last layer, mean over heads and training samples. */
  attention: { positive: number[] | null; negative: number[] | null };
  learned: boolean;
  /** The F1 from which it counts as learned. */
  learned_from: number;
}

export type Ended = Results & { outcome?: string; best?: { step: number; held_out: Metrics } };

export interface Begun {
  steps: number;
  /** What a kept step holds, the weights first. */
  row: Row;
  question?: string;
  parameters: [name: string, shape: number[]][];
  samples: Facts["samples"];
  inputs: { positions: number; cls: number | null; read?: number };
  /** Which samples are also training samples, as sentences. */
  repetitions: string[];
  mask: number[];
}

/** The next steps of a training: the floats are their losses, then the rows of those that are kept. */
export type Part = { step: number; losses: number; kept: number[]; done: boolean };

/** What is said of such a file. */
export interface DataInBrief {
  /** What was chosen as samples and labels, in a line. */
  choice: string;
  /** How many samples of each class are trained on, and how many are held out. `[class]` */
  train: number[];
  held_out: number[];
  /** What is cut, unknown or repeated, as sentences. */
  notes: string[];
}

/** The first occurrences, and how many there are in all. */
export type WordSentences = { held_out: number; samples: number[][]; labels: number[]; all: number };

/** The places are the sample's number among those found, the position, and whether the class is about it; the floats `[level, place, component]`. */
export type WordPlanes = { levels: string[]; shares: [number, number][]; places: [number, number, number][] };

/** What a model computes for a sample. */
export type Look = { arrays: Arrays; mask: number[]; judged: PositionLabel[][] | null };

export interface Answers {
  begin: Begun;
  advance: Part;
  end: Ended;
  summary: Results;
  look: Omit<Look, "arrays"> & { arrays: Row };
  watch: { row: Row };
  find: WordSentences;
  planes: WordPlanes;
  generate: { samples: [tokens: number[], hasEnded: boolean][] };
  texts: DataInBrief & { data: Record<string, unknown>; padding_token: number };
  save: object;
}

/** The facts of the page. */
export interface PageFacts {
  viridis: [number, number, number][];
  runs: Facts[];
  /** What the classifiers answer, if it is known. */
  question: string | null;
  /** For a page without a run: the experiment that it begins with. */
  lab?: { name: string; config: Config; data?: CarriedSamples };
  /** Of a page of worked examples alone. */
  example?: Example;
}

/** The arrays of one sample at one step, by the names of a dump. */
export type Arrays = Record<string, Float32Array>;

/** Where the numbers of a run come from: recorded, or computed by the page. */
export interface Source {
  kind: "recorded" | "live";
  /** Scores or weights of one query. `[key]` */
  row(name: Show, at: number, sample: Sample, layer: number, head: number, query: number): Float64Array;
  /** A single weight, where it can be had without its row: curves ask for very many. */
  weight?(at: number, sample: Sample, layer: number, head: number, query: number, key: number): number;
  results(name: "logits" | "probabilities", at: number, sample: Sample): number[];
  /** What is known of each answer of a whole sample, where the source computes any sample; nothing if that is unknown. Throws an error with a sentence if the model cannot take them. */
  judge?(tokens: number[]): PositionLabel[];
  /** All arrays of a sample at a step; null where the source has none. */
  arrays(at: number, sample: Sample): Arrays | null;
  allows(sample: Sample, query: number, key: number): boolean;
  /** Whether all steps of a sample are at hand, as a curve needs them; if not, they are being computed; null if they cannot be. */
  covers(sample: Sample): boolean | null;
  /** Counts curves that arrived, where they are computed; who reads it is shown again then. */
  arrived?: Signal<number>;
  /** The values of a parameter at a step, by its name; null where the source has no weights. */
  parameter?(name: string, at: number): { shape: number[]; values: Float32Array } | null;
}

type PatchPlace = "embeddings" | "context" | "residual" | "output";
export type VectorPatch = { place: PatchPlace; layer: number; position: number; from: string };

/** Interventions in the forward pass of a trained model. */
export interface Interventions {
  /** Factor by which scores are divided. */
  temperature?: number;
  causal?: boolean;
  /** Heads that give nothing: layer and head. */
  heads?: [number, number][];
  /** Positions at which no query of any layer looks. */
  keys?: number[];
  /** Attention rows that the reader sets. */
  rows?: { layer: number; head: number; query: number; weights: number[] }[];
  /** A vector from another sample in its place. */
  patches?: VectorPatch[];
}

export type Show = "weights" | "scores";
export type Range = "unit" | "uniform" | "own";

/** What the page shows. A change makes a new one. What the reader has not chosen is infinite or empty. */
export interface View {
  run: number;
  /** The key of a sample, or the name of a class, which stands for the mean over its samples. */
  sample: string;
  /** In training steps. */
  step: number;
  query: number;
  key: number;
  layer: number;
  head: number;
  show: Show;
  range: Range | "";
  pin: Pin | null;
  tab: string;
  /** The caption of the guide, from 1; 0 without a guide. */
  guide: number;
  /** The stage of the walk through the computation, from 1; 0 shows all. */
  stage: number;
  /** The word of the tab "Words"; empty until the reader chooses one. */
  word: string;
  changes: Interventions;
  /** Config keys in which the shown experiment differs from the page's own, for example `model.d_model`. */
  settings: Record<string, unknown>;
}

/** A view to compare with: of a run of the page, or of the experiment of these settings, with these changes. */
export interface Pin {
  run: View["run"];
  sample: string;
  step: number;
  settings: Record<string, unknown>;
  changes: Interventions;
}

/** How the numbers of the page's own run came about. */
export interface Origin {
  kind: "training" | "live" | "differs" | "recorded";
  /** The word that stands before the text. */
  badge: string;
  /** A sentence, which goes on from the badge; empty before the page knows. */
  text: string;
  /** What stands in its place below the title; hashes are in the tab Evidence. */
  brief?: string;
  /** The step, of how many. */
  progress?: [number, number];
  ask?: () => void;
  stop?: () => void;
}

// Worked examples, which `crates/walkthrough/src/json.rs` writes.

/** A matrix of an example; null is minus infinity. */
export interface ExampleMatrix {
  stage: string;
  how: string;
  rows: string[];
  columns: string[];
  values: (number | null)[][];
}

/** What the document prints of one row. */
export interface PrintedRow {
  stage: string;
  row: number;
  columns: number[];
  values: number[];
  differs: boolean[];
  decimals: number;
  note: string | null;
}

export interface ExampleCase {
  title: string | null;
  about: string | null;
  factor: number;
  temperature: number;
  stages: ExampleMatrix[];
  published: PrintedRow[];
}

export type Example = { title: string; cases: ExampleCase[] };

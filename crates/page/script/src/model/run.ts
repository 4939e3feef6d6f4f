// A run: its facts, the source of its numbers, and what follows from both.

import { UNIFORM_BELOW } from "./described";
import { mean, range, sum } from "./numbers";
import { readoutOf } from "./readout";
import { type Words, textsOf } from "./words";
import type { Config, Facts, Sample, Show, Source } from "./types";

// The name of a reader's own sample, in addresses and files before its tokens. What the reader typed stands with the token
// of unknown words.
const OWN = "own-";
const escaped = (word: string) => encodeURIComponent(word).replace(/[-~]/g, (sign) => (sign === "-" ? "%2D" : "%7E"));
/** @param tokens without [CLS] @param typed of each unknown token the word */
export const userSampleKey = (tokens: number[], typed: string[] = []) =>
  OWN + tokens.map((token, at) => (typed[at] ? `${token}~${escaped(typed[at])}` : token)).join("-");
export const isUserSample = (key: string) => key.startsWith(OWN);

export class Run {
  /** How texts become tokens, if samples are texts. */
  words: Words | null = this.facts.config?.data.words ?? null;
  /** The columns of a table of values, each of which stands with its column's name. */
  features: string[] | undefined = this.facts.config?.data.features;
  /** The config of the model; without any keys where it is not known. */
  model: Config = this.facts.model ?? {};
  /** The token that fills a sample up. */
  padding: number | undefined = (this.asksEach ? this.model : this.facts.config?.model)?.attention?.padding_token;
  positions = this.facts.positions;
  #read = readoutOf(this.asked === undefined ? this.facts : { ...this.facts, read: this.asked });
  /** The position of [CLS]; -1 if samples have none. */
  cls = this.#read.cls;
  /** The readout position; if the class is read from the mean of all, the position whose attention is shown. */
  readout = this.#read.readout;
  /** What sentences call that position. */
  readoutName = this.#read.readoutName;
  /** Whether the class is read from the mean over all positions that are not padding. */
  readsMean = this.#read.readsMean;
  /** The smallest token that a reader may type, and how many of them a sample has. */
  firstToken = this.cls < 0 ? 0 : 1;
  tokenCount = this.positions - this.firstToken;
  /** Whether each row of weights sums to 1. */
  isShare = (this.model.attention?.rate ?? 1) === 1 && this.model.attention?.softmax !== false;
  classCount = this.facts.logits === 1 ? 2 : this.facts.logits;
  samples = this.facts.samples.map((sample, index) =>
    this.#asked({ ...sample, index, key: String(sample.number ?? index) }),
  );
  /** The time of each step; that of a dump without one is its place. */
  times = this.facts.steps.map((step, at) => step ?? at);
  /** The names of all samples of a class, in the address too. */
  groups: Record<string, number> =
    this.classCount > 2
      ? Object.fromEntries(range(this.classCount).map((label) => [`class ${label}`, label]))
      : { positives: 1, negatives: 0 };

  #curves = new Map();
  #mostKeys: number | undefined;
  #strongest: number | undefined;
  /** The samples of the reader. */
  #own = new Map<string, Sample>();
  /** The same run with other positions asked. */
  #asking = new Map<number, Run>();

  /** @param asked the position whose answers are meant, of a model that answers at each */
  constructor(
    public facts: Facts,
    readonly source: Source,
    readonly name = facts.seed === null ? facts.name : `${facts.name} (seed ${facts.seed})`,
    readonly asked?: number,
  ) {
    // A recording names the tokens of its samples alone; a reader may type others.
    if (this.words && !("2" in facts.token_strings)) this.facts = { ...facts, token_strings: textsOf(this.words) };
  }

  /** Whether the page computes the run's numbers itself. */
  get isLive() {
    return this.source.kind === "live";
  }
  /** Whether it is attention alone: weights from anywhere, of a model that the page does not know. */
  get isAlone() {
    return this.facts.logits === 0;
  }
  get last() {
    return this.times[this.times.length - 1];
  }
  /** The step that a page shows first. */
  get opening() {
    return this.facts.best ?? this.last;
  }

  // Steps.

  /** The place of the step that is nearest to a time. */
  at(time: number) {
    const { times } = this;
    const low = Math.max(
      times.findLastIndex((own) => own <= time),
      0,
    );
    const high = Math.min(low + 1, times.length - 1);
    return time - times[low] <= times[high] - time ? low : high;
  }

  stepName(at: number) {
    return this.facts.steps[at] === null ? "unknown" : String(this.facts.steps[at]);
  }

  /** A step's place in the training, with the best model's name. */
  stepText(at: number) {
    const { best } = this.facts;
    if (best === undefined) return `step ${this.stepName(at)}`;
    return `${this.times[at] === best ? "best model, " : ""}step ${this.stepName(at)} of ${this.last}`;
  }

  // Positions, of a model that answers at each.

  /** Whether the model answers at each position. */
  get asksEach() {
    return this.facts.task !== undefined;
  }

  /** The run whose samples have the labels and the answers of this position. */
  asking(position: number): Run {
    if (!this.asksEach || !(position < this.positions) || position === this.asked) return this;
    const found = this.#asking.get(position) ?? new Run(this.facts, this.source, this.name, position);
    this.#asking.set(position, found);
    return found;
  }

  /** A sample with the label of the position that is asked: without a choice that which is read or, if it is padding, the last before it. */
  #asked(sample: Sample): Sample {
    if (!sample.each) return sample;
    const { tokens, each } = sample;
    const { padding } = this;
    const last = Math.max(
      tokens.findLastIndex((token) => token !== padding),
      0,
    );
    const asked = this.asked ?? (tokens[this.readout] === padding ? last : this.readout);
    const [label, marked] = each[asked] ?? [null, []];
    return { ...sample, asked, label, marked };
  }

  /** How many answers of a sample are right, and how many have a label. */
  tally(sample: Sample, at: number): [number, number] {
    const all = sample.each?.map(([label], asked) => ({ ...sample, label, asked })) ?? [sample];
    const outcomes = all.map((answer) => this.outcome(answer, at)).filter(Boolean);
    return [outcomes.filter((outcome) => outcome === "right").length, outcomes.length];
  }

  // Samples.

  isGroup(key: string): boolean {
    return Object.hasOwn(this.groups, key);
  }

  /** The samples that a key stands for: one, or all of a class. Empty if there are none. */
  members(key: string): Sample[] {
    if (this.isGroup(key)) return this.samples.filter(({ label }) => label === this.groups[key]);
    const sample = this.sample(key);
    return sample ? [sample] : [];
  }

  /** The sample of a key, or null. */
  sample(key: string): Sample | null {
    if (!isUserSample(key)) return this.samples.find((sample) => sample.key === key) ?? null;
    try {
      const parts = key
        .slice(OWN.length)
        .split("-")
        .map((part) => part.split("~"));
      return this.own(
        parts.map(([token]) => Number(token)),
        parts.map(([, word]) => decodeURIComponent(word ?? "")),
      );
    } catch {
      return null;
    }
  }

  /** A sample of the reader, without [CLS]. Throws an error with a sentence if the model cannot take it. @param typed of each unknown token the word */
  own(tokens: number[], typed: string[] = []): Sample {
    const key = userSampleKey(tokens, typed);
    const known = this.#own.get(key);
    if (known) return known;
    const { source, padding, firstToken: first } = this;
    if (!source.judge) throw new Error("only a live page computes samples of your own");
    const [most, kind] = [this.tokenCount, `${this.unit}s`];
    if (tokens.length > most || tokens.length < (padding === undefined ? most : 1))
      throw new Error(`Type ${padding === undefined ? "" : "1 to "}${most} ${kind}; you typed ${tokens.length}`);
    const last = this.facts.config?.data.vocab_size - 1;
    const whole = `use a whole number from ${first + Number(first === padding)} to ${last - Number(last === padding)}`;
    const unknown = tokens.find((token) => token > last);
    if (unknown !== undefined) throw new Error(`${unknown} is no token of this model; ${whole}`);
    // As `check_padding` of the core: padding fills a shorter sample up, at one end.
    const begins = tokens.filter((token, at) => token !== padding && (at === 0 || tokens[at - 1] === padding));
    if (begins.length !== 1)
      throw new Error(`${padding} is padding, which may not stand between ${kind}, nor alone; leave it out`);
    const withCls = tokens.slice();
    while (padding !== undefined && withCls.length < most) withCls.push(padding);
    if (this.cls >= 0) withCls.splice(this.cls, 0, 0);
    const each = source.judge(withCls);
    const [label, marked] = each[0] ?? [null, []];
    const words = typed.slice();
    if (this.cls >= 0) words.splice(this.cls, 0, "");
    const sample = this.#asked({
      key,
      number: null,
      label,
      tokens: withCls,
      typed: words,
      marked,
      index: null,
      ...(this.asksEach ? { each } : {}),
    });
    this.#own.set(key, sample);
    return sample;
  }

  /** Values of each position, without that of [CLS] if there is one. */
  withoutCls<T>(values: T[]): T[] {
    return values.filter((_, position) => position !== this.cls);
  }

  /** How many positions of a sample, or of the longest of several, are more than padding, and the one that is read. */
  length(key: string) {
    if (this.padding === undefined) return this.positions;
    return Math.max(
      this.asksEach ? 1 : this.readout + 1,
      ...this.members(key).map(({ tokens }) => tokens.findLastIndex((token) => token !== this.padding) + 1),
    );
  }

  /** What a reader reads: tokens as texts, without [CLS] and what fills the sample up. */
  texts(sample: Sample) {
    const end = this.withoutCls(sample.tokens).findLastIndex((token) => token !== this.padding) + 1;
    const texts = range(sample.tokens.length).map((position) => this.tokenText(sample, position));
    return this.withoutCls(texts).slice(0, end);
  }

  /** What a token is. */
  get unit() {
    if (!this.words) return "token";
    return this.features ? "value" : this.words.level === "character" ? "character" : "word";
  }

  /** Tokens as one text. */
  joined(texts: string[]) {
    return texts.join({ token: " ", word: " ", character: "", value: ", " }[this.unit]);
  }

  tokenText(sample: Sample, position: number) {
    const token = sample.tokens[position];
    if (sample.typed?.[position]) return sample.typed[position];
    return position === this.cls && token === 0 ? "[CLS]" : (this.facts.token_strings[token] ?? String(token));
  }

  /** A position's token; for several samples, the token that all have there, or a dot. */
  tokenAt(key: string, position: number) {
    const [first = "·", ...others] = this.members(key).map((sample) => this.tokenText(sample, position));
    return others.every((other) => other === first) ? first : "·";
  }

  /** Whether a position decides the label of all these samples. */
  marked(key: string, position: number) {
    const members = this.members(key);
    return members.length > 0 && members.every(({ marked }) => marked.includes(position));
  }

  /** A position and its token, as a row's name. */
  rowName(key: string, position: number) {
    return `${this.marked(key, position) ? "◆ " : ""}${position}: ${this.tokenAt(key, position)}`;
  }

  sampleName(key: string) {
    if (this.isGroup(key)) return this.groupName(key, this.members(key).length);
    return isUserSample(key) ? "your sample" : `sample ${key}`;
  }

  groupName(name: string, count: number) {
    const named = this.classCount > 2 || this.facts.classes.length;
    const [samples, group] = count === 1 ? ["sample", name.replace(/s$/, "")] : ["samples", name];
    const which = named ? `${samples} of ${this.className(this.groups[name])}` : group;
    return `mean over ${count} ${which}${this.asksEach ? ` at position ${this.readout}` : ""}`;
  }

  // Classes.

  className(label: number | null) {
    if (label === null) return "unknown";
    if (this.facts.task === "next-token")
      return label === 0 && this.cls === 0 ? "[CLS]" : (this.facts.token_strings[label] ?? String(label));
    return (
      this.facts.classes[label] ??
      (this.classCount > 2 || this.asksEach ? `class ${label}` : label ? "positive" : "negative")
    );
  }

  /** A class as a tile has room for it. */
  shortClass(label: number) {
    return this.className(label).replace(/^class /, "");
  }

  /** The class that the model chooses: the most probable one, and the first of equals. */
  predicted(sample: Sample, at: number) {
    const values = this.source.results("logits", at, sample);
    return values.length > 1 ? values.indexOf(Math.max(...values)) : Number(values[0] > 0);
  }

  /** Of two classes the probability of the positive one; of more that of the sample's class, or of the chosen one if the sample's is unknown. */
  probability(sample: Sample, at: number) {
    const values = this.source.results("probabilities", at, sample);
    return this.classCount > 2 ? values[sample.label ?? this.predicted(sample, at)] : values[values.length - 1];
  }

  /** The names of outcomes. */
  get outcomes(): Record<string, string> {
    return this.classCount > 2 || this.asksEach
      ? { right: "right", wrong: "wrong" }
      : { right: "right", missed: "missed", false: "false alarm" };
  }

  /** A key of `outcomes`, or nothing if the label is unknown. */
  outcome(sample: Sample, at: number) {
    if (sample.label === null) return "";
    const called = this.predicted(sample, at);
    if (called === sample.label) return "right";
    return this.classCount > 2 || this.asksEach ? "wrong" : called ? "false" : "missed";
  }

  // Attention.

  allows(sample: Sample, query: number, key: number) {
    return this.source.allows(sample, query, key);
  }

  /** The keys that a query may look at. */
  keys(sample: Sample, query: number) {
    return range(this.positions).filter((key) => this.allows(sample, query, key));
  }

  /** Whether a query may look at no token of these samples but its own. */
  isBlind(samples: Sample[], query = this.readout) {
    return this.positions > 1 && samples.every((sample) => String(this.keys(sample, query)) === String(query));
  }

  /** Uniform attention of a query on positions together: 1 / its keys for each of them that is a key, mixed as the model mixes it; NaN for a model without softmax. The mean over the samples whose query has keys. */
  uniform(samples: Sample[], query: number, positions: (sample: Sample) => number[]) {
    const all = samples
      .map((sample) => ({ keys: this.keys(sample, query), of: positions(sample) }))
      .filter(({ keys }) => keys.length);
    return mean(all.map(({ keys, of }) => keys.filter((key) => of.includes(key)).length * this.#even(keys)));
  }

  /** The weight of each key under uniform attention. */
  #even(keys: number[]) {
    const { rate = 1, softmax = true } = this.model.attention ?? {};
    return softmax ? rate / keys.length + 1 - rate : NaN;
  }

  /** How far a row of weights is from uniform attention over its keys, in nats. */
  #divergence(keys: number[], weights: ArrayLike<number>) {
    return sum(keys.map((key) => (weights[key] > 0 ? weights[key] * Math.log(weights[key] * keys.length) : 0)));
  }

  /** Whether each row of a head is close to uniform attention (`is_uniform` in `crates/architecture/src/keys.rs`), of a sample or of all of a class. @param queries those that count */
  isUniform(key: string, at: number, layer: number, head: number, queries: number[] = range(this.positions)) {
    const { rate = 1, softmax = true } = this.model.attention ?? {};
    // Attention is uniform before it is mixed; a rate of 0 leaves nothing of it.
    if (!softmax || rate === 0) return false;
    const shares = (weights: ArrayLike<number>) =>
      rate < 1 ? Array.from(weights, (weight) => (weight - 1 + rate) / rate) : weights;
    let hasRows = false;
    for (const sample of this.members(key)) {
      for (const query of queries) {
        const keys = this.keys(sample, query);
        // A query with a single key says nothing.
        if (keys.length < 2) continue;
        hasRows = true;
        if (this.#divergence(keys, shares(this.source.row("weights", at, sample, layer, head, query))) >= UNIFORM_BELOW)
          return false;
      }
    }
    return hasRows;
  }

  /** The strongest head of the last layer, which the page shows first: of a recording as the core says, of a training of this page as the core would (`strongest_head`). */
  get strongest() {
    const strengths = () => range(this.facts.heads).map((head) => this.#strength(head));
    const find = (all: number[]) => Math.max(all.indexOf(Math.max(...all)), 0);
    return (this.#strongest ??= this.facts.strongest ?? find(strengths()));
  }

  get #decided() {
    return this.samples.filter(({ label, marked }) => (label ?? 0) > 0 && marked.length);
  }

  /** Why that head is shown, as a sentence; empty of one head. */
  get whyStrongest() {
    const decided = this.#decided;
    if (this.facts.heads === 1) return "";
    const isMore = !(this.#strength(this.strongest) <= this.uniform(decided, this.readout, ({ marked }) => marked));
    const isFree = this.model.attention?.softmax === false;
    const far = isFree ? "has the largest weights" : "is the farthest from uniform attention";
    const why = decided.length ? "looks most at what decides the label" : far;
    const limit = decided.length && !isMore ? ", though no head looks there more than uniformly" : "";
    return ` Of the heads of this layer, the page shows the one that ${why}${limit}.`;
  }

  /** Its mean attention on what decides or, if nothing says what does, its mean distance from uniform attention. */
  #strength(head: number) {
    const [decided, at, layer] = [this.#decided, this.at(this.opening), this.facts.layers - 1];
    if (decided.length) return mean(decided.map((sample) => this.#onto(sample.marked, sample, at, layer, head)));
    const row = (sample: Sample) => this.source.row("weights", at, sample, layer, head, this.readout);
    return mean(this.samples.map((sample) => this.#divergence(this.keys(sample, this.readout), row(sample))));
  }

  /** The most keys that a query may look at. */
  get mostKeys() {
    const counts = (sample: Sample) => range(this.positions).map((query) => this.keys(sample, query).length);
    return (this.#mostKeys ??= Math.max(1, ...this.samples.flatMap(counts)));
  }

  /** The first positions of the matrix of one head, of a sample or the mean over a class. `[query, key]` */
  matrix(key: string, at: number, layer: number, head: number, show: Show, count = this.positions) {
    const members = this.members(key);
    const cells = new Float64Array(count ** 2);
    for (const sample of members) {
      for (let query = 0; query < count; query++) {
        const row = this.source.row(show, at, sample, layer, head, query);
        for (let column = 0; column < count; column++) cells[query * count + column] += row[column] / members.length;
      }
    }
    return cells;
  }

  /** The reader's attention on the positions that decide the label; NaN without such positions. */
  onLabel(sample: Sample, at: number, layer: number, head: number) {
    const looked = this.lookedAt(sample);
    return looked.length ? this.#onto(looked, sample, at, layer, head) : NaN;
  }

  /** The positions that decide a label, apart from the readout position: that has its own token in any case. */
  lookedAt({ marked }: Sample) {
    return marked.filter((position) => position !== this.readout);
  }

  /** The reader's attention on positions together. */
  #onto(positions: number[], sample: Sample, at: number, layer: number, head: number) {
    const { readout, source } = this;
    if (source.weight)
      return sum(positions.map((key) => source.weight?.(at, sample, layer, head, readout, key) ?? NaN));
    const row = source.row("weights", at, sample, layer, head, readout);
    return sum(positions.map((position) => row[position]));
  }

  /** That attention over all steps, of a sample or the mean over a class. Null while it is computed, and empty if it cannot be. */
  curve(key: string, layer: number, head: number): [number, number][] | null {
    const name = `${key},${layer},${head}`;
    if (this.#curves.has(name)) return this.#curves.get(name);
    const members = this.members(key);
    // All are asked for, so that they are computed together.
    const covered = members.map((sample) => this.source.covers(sample));
    if (covered.includes(null)) return [];
    if (covered.includes(false)) return null;
    const known = members.filter((sample) => this.lookedAt(sample).length);
    const curve = this.times.map((time, at) => [
      time,
      known.length ? mean(known.map((sample) => this.onLabel(sample, at, layer, head))) : NaN,
    ]);
    this.#curves.set(name, curve);
    return curve as [number, number][];
  }

  /** The highest score of a head, of all steps and samples: the end of the colours. */
  mostScore(layer: number, head: number) {
    const name = `most,${layer},${head}`;
    if (!this.#curves.has(name)) {
      let most = 0;
      // Of a live run each step is at hand; some of them show the range.
      const stride = Math.ceil(this.times.length / 128);
      for (let at = this.times.length - 1; at >= 0; at -= stride) {
        for (const sample of this.samples)
          for (let query = 0; query < this.positions; query++)
            for (const score of this.source.row("scores", at, sample, layer, head, query))
              most = Math.max(most, Math.abs(score));
      }
      this.#curves.set(name, most || 1);
    }
    return this.#curves.get(name);
  }
}

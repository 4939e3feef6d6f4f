// The stages of the walk: what each computes, with its numbers and a sentence.

import { fixed, joined, percent, range } from "../model/numbers";
import { chancesOf, type Computation, type Linear } from "./computation";
import { ACTIVATIONS } from "./functions";

/** Numbers under each other and beside each other. */
export interface Grid {
  name: string;
  /** What stands before it: `=`, `×`, `+`. */
  sign?: string;
  rows: string[];
  columns: string[];
  /** Null where nothing is. */
  values: (number | null)[][];
  /** The row and the column that the sentence is about. */
  chosen?: number;
  key?: number;
  /** What a document prints beside the numbers. */
  marks?: string[][];
}

export interface Stage {
  title: string;
  /** `_` begins a subscript */
  formula: string;
  sentence: string;
  grids: Grid[];
  /** Of the model, which are shown on demand. */
  weights?: Grid[];
  /** What was computed, and the engine's. */
  checks?: [ArrayLike<number>, ArrayLike<number>][];
  isChanged?: boolean;
}

/** How tokens and classes are called. `count`: the positions to show, without padding */
interface Names {
  token: (position: number) => string;
  row: (position: number) => string;
  className: (label: number | null) => string;
  label: number | null;
  count?: number;
}

// Larger squares show the row of the query alone.
const MAX_SQUARE = 16;

const number = (value: number) => fixed(value, 3).replace("-", "−");
const precise = (value: number) => String(Number(value.toPrecision(3))).replace("-", "−");
const term = (value: number) => (value < 0 ? `(${number(value)})` : number(value));
const indices = (values: ArrayLike<unknown>) => range(values.length).map(String);

/** A sum of products, with its first terms. */
function terms(one: ArrayLike<number>, other: ArrayLike<number>) {
  const shown = range(Math.min(2, one.length)).map(
    (at) => `${at ? term(one[at]) : number(one[at])} × ${term(other[at])}`,
  );
  return `${shown.join(" + ")}${one.length > 2 ? " + …" : ""}`;
}

/** All stages of a computation, for the key that the sentences are about. */
export function stagesOf(c: Computation, names: Names, key: number): Stage[] {
  const about = { c, names, key };
  return [
    inputs,
    firstNorm,
    projections,
    products,
    scores,
    weights,
    context,
    residual,
    norm,
    feedForward,
    later,
    decision,
  ].flatMap((stage) => stage(about) ?? []);
}

type About = { c: Computation; names: Names; key: number };
type VectorOf = (position: number) => ArrayLike<number> | null;
type RowOf = (query: number) => (number | null)[];
type Norm = NonNullable<ReturnType<Computation["norm"]>>;

/** What a sentence calls a position. */
const called = ({ c, names }: About, position: number) =>
  position === c.read.cls ? "[CLS]" : `position ${position} (${names.token(position)})`;

/** A matrix with a row for each position. */
function byPosition({ c, names }: About, name: string, of: VectorOf, more: Partial<Grid> = {}): Grid {
  const positions = c.positions.slice(0, names.count);
  const values = positions.map((position) => Array.from(of(position) ?? []));
  return { name, rows: positions.map(names.row), columns: indices(values[0]), values, chosen: c.query, ...more };
}

/** A matrix of queries and keys; of many positions the row of the query alone. */
function byPair({ c, names, key }: About, name: string, of: RowOf, more: Partial<Grid> = {}): Grid {
  const positions = c.positions.slice(0, names.count);
  const shown = positions.length > MAX_SQUARE ? [c.query] : positions;
  return {
    name,
    rows: shown.map(names.row),
    columns: positions.map(names.row),
    values: shown.map((query) => of(query).slice(0, names.count)),
    chosen: shown.indexOf(c.query),
    key,
    ...more,
  };
}

/** Vectors under each other; the last one is the result. */
function stack(name: string, rows: [string, ArrayLike<number> | null | undefined][], more: Partial<Grid> = {}): Grid {
  const known = rows.filter(([, values]) => values?.length);
  const values = known.map(([, values]) => Array.from(values as ArrayLike<number>));
  return {
    name,
    rows: known.map(([row]) => row),
    columns: indices(values[0]),
    values,
    chosen: values.length - 1,
    ...more,
  };
}

function inputs(about: About): Stage {
  const { c, names } = about;
  const { query, layer } = c;
  const input = c.input() ?? [];
  const begins = `begins with ${input.slice(0, 2).map(number).join(" and ")}`;
  const x = byPosition(about, "X: inputs", (position) => c.input(position));
  const stage = (formula: string, grids: Grid[], sentence: string, checks?: Stage["checks"]): Stage => ({
    title: "Inputs",
    formula: `X = ${formula}`,
    isChanged: c.isChanged("input"),
    grids,
    sentence,
    checks,
  });
  if (layer > 0) {
    const gives = input.length ? `: the vector of ${called(about, query)} ${begins}` : ", which is not recorded";
    const before = `output of layer ${layer - 1}`;
    return stage(before, input.length ? [x] : [], `Layer ${layer} takes what layer ${layer - 1} gives${gives}.`);
  }
  const embedding = c.embedding();
  const { positions, hasFirstNorm } = c.parts;
  const isAdded = positions === "learned" || positions === "sinusoidal" || positions === "first";
  const sum = isAdded ? "token + position" : "token";
  const formula = hasFirstNorm ? `norm(${sum})` : sum;
  if (!embedding) {
    const what = isAdded
      ? `The vectors of ${called(about, query)} as a token and as a position add up to its input`
      : `The vector of ${called(about, query)} as a token is its input`;
    return stage(formula, [x], `${what}${hasFirstNorm ? ", once normalised" : ""}; it ${begins}.`);
  }
  const { token, place } = embedding;
  const grids = [byPosition(about, "token vectors", (position) => c.embedding(position)?.token ?? null)];
  if (place)
    grids.push(
      byPosition(about, "position vectors", (position) => c.embedding(position)?.place ?? null, { sign: "+" }),
    );
  if (place || hasFirstNorm) grids.push({ ...x, sign: hasFirstNorm ? "→" : "=" });
  const normed = hasFirstNorm ? `; normalised, the sum ${begins}` : "";
  const sentence = place
    ? `Token ${names.token(query)} has a vector, and so has position ${query}${FIXED[positions] ?? ""}: their first numbers ${number(token[0])} and ${number(place[0])} add up to ${number(embedding.sum[0])}${normed}.`
    : `The vector of token ${names.token(query)} is the input, and begins with ${number(token[0])}: this model has no vectors of positions${positions === "rotary" ? ", and rotates queries and keys instead" : ""}${normed}.`;
  return stage(formula, grids, sentence, [[embedding.input, input]]);
}

/** What vectors of positions are that no training changes. */
const FIXED: Record<string, string> = { sinusoidal: ", of sines and cosines", first: ", which marks position 1 alone" };

/** What a norm computes, and its first number. @param what is normalised */
function normStage(c: Computation, what: string, vector: number[], found: Norm, engine: number[] | null = null): Stage {
  const { mean, variance, even, gamma, beta, scaled } = found;
  const { hasGain, hasShift, isRms } = c.parts;
  const root = `√(${precise(variance)} + ${c.facts.norm_eps})`;
  const start = isRms
    ? `The ${what} has the mean square ${precise(variance)}: ${number(vector[0])} / ${root} = ${number(even[0])}`
    : `The ${what} has the mean ${precise(mean)} and the variance ${precise(variance)}: (${number(vector[0])} − ${mean < 0 ? `(${precise(mean)})` : precise(mean)}) / ${root} = ${number(even[0])}`;
  const learned = joined(
    [gamma && `times the scale ${number(gamma[0])}`, beta && `plus the shift ${number(beta[0])}`],
    ", ",
  );
  const end = scaled
    ? learned && `; ${learned}, it is ${number(scaled[0])}`
    : (hasGain || hasShift) && ". The scale and shift that it learned are not recorded";
  const of = what === "input" ? "x" : what;
  return {
    title: "Norm",
    formula: `norm = ${isRms ? `${of} / √(mean square + ε)` : `(${of} − mean) / √(variance + ε)`}${hasGain ? " × γ" : ""}${hasShift ? " + β" : ""}`,
    isChanged: engine !== null && c.isChanged("output"),
    grids: [
      stack(what, [[what, vector]]),
      stack(
        "norm",
        [
          ["normalised", even],
          ["γ: scale", gamma],
          ["β: shift", beta],
          ["norm", scaled ?? engine],
        ],
        { sign: "→" },
      ),
    ],
    checks: scaled && engine ? [[scaled, engine]] : undefined,
    sentence: `${start}${end || ""}.`,
  };
}

/** The norm before attention. */
function firstNorm({ c }: About): Stage | null {
  const [found, input] = [c.firstNorm(), c.input()];
  return found && input && normStage(c, "input", input, found);
}

function projections(about: About): Stage {
  const { c, key } = about;
  const kinds = ["query", "key", "value"] as const;
  const letters = { query: "Q", key: "K", value: "V" };
  const names = { query: "queries", key: "keys", value: "values" };
  const [own, ownKey, ownValue] = kinds.map((kind) => c.projection(kind));
  const { norm: place, positions } = c.parts;
  const source = c.hasWeights ? c.source() : null;
  const [isRotary, x] = [positions === "rotary", place === "pre" ? "N" : "X"];
  const rowsOf = (found: Linear | null) => String(found?.rows);
  const isShared = own !== null && rowsOf(own) === rowsOf(ownKey) && rowsOf(own) === rowsOf(ownValue);
  const bias = own && !own.hasBias ? "" : " + b";
  const ofKind = (letter: string) => `${letter} = ${x} W_${letter}${bias && `${bias}_${letter}`}`;
  const hasValues = c.hasWeights ? ownValue !== null : c.facts.model?.attention?.value_projection !== false;
  const formula =
    c.hasWeights && !own
      ? `Q = K = V = ${x}`
      : isShared
        ? `Q = K = V = ${x} W${bias}`
        : `${ofKind("Q")},  ${ofKind("K")},  ${hasValues ? ofKind("V") : `V = ${x}`}`;
  const first = number(c.ofHead("query", c.query)[0]);
  const column = own?.rows.map((row) => row[0]);
  const how =
    own && column && source && !isRotary
      ? `${terms(source, column)}${own.hasBias ? ` + ${term(own.bias[0])}` : ""} = ${first}`
      : first;
  return {
    title: "Queries, keys, values",
    formula: `${place === "pre" ? "N = norm(X),  " : ""}${formula}${isRotary ? ",  then Q and K are rotated" : ""}`,
    grids: kinds.map((kind) =>
      byPosition(about, `${letters[kind]}: ${names[kind]}`, (position) => c.ofHead(kind, position), {
        chosen: kind === "query" ? c.query : key,
      }),
    ),
    weights: (isShared ? kinds.slice(0, 1) : kinds).flatMap((kind) => {
      const found = c.projection(kind);
      return found ? [matrixOf(isShared ? "W" : `W_${letters[kind]}`, found)] : [];
    }),
    checks: kinds.flatMap((kind) =>
      c.positions.flatMap((position) => {
        const computed = c.projected(kind, position);
        return computed ? [[computed, c.ofHead(kind, position)] as [number[], number[]]] : [];
      }),
    ),
    sentence: `The first number of the query of ${called(about, c.query)}${isRotary ? ", rotated by its position," : ""} is ${how}; the key and the value of ${called(about, key)} begin with ${number(c.ofHead("key", key)[0])} and ${number(c.ofHead("value", key)[0])}.`,
  };
}

/** A matrix of weights, with its bias if it has one. */
const matrixOf = (name: string, { rows, bias, hasBias }: Linear): Grid => ({
  name: `${name}${hasBias ? " and bias" : ""}`,
  rows: [...indices(rows), ...(hasBias ? ["bias"] : [])],
  columns: indices(bias),
  values: [...rows, ...(hasBias ? [bias] : [])],
});

function products(about: About): Stage {
  const { c, key, names } = about;
  const [query, own] = [c.ofHead("query", c.query), c.ofHead("key", key)];
  // Padding is not shown.
  const found = c.products().slice(0, names.count);
  const most = found.indexOf(Math.max(...found));
  return {
    title: "Products",
    formula: "query · key, for each pair: Q K^T",
    grids: [
      stack("query", [[names.row(c.query), query]]),
      byPosition(about, "K: keys", (position) => c.ofHead("key", position), { sign: "·", chosen: key }),
      byPair(about, "Q K^T: products", (position) => c.products(position), { sign: "=" }),
    ],
    sentence: `The query of ${called(about, c.query)} times the key of ${called(about, key)} is ${terms(query, own)} = ${number(found[key])}${most === key ? ", the largest product of its row" : `; its largest product is ${number(found[most])}, with ${called(about, most)}`}.`,
  };
}

function scores(about: About): Stage {
  const { c, key } = about;
  const { facts, factor } = c;
  const { isLong, softmax } = c.parts;
  const scale = c.scaleOf();
  const allowed = c.positions.filter((position) => c.allows(position));
  const [found, engine] = [c.products(), c.scores()];
  const name = factor === facts.factor ? facts.factor_text : number(factor);
  return {
    title: "Scores",
    formula: `scores = Q K^T × ${name}${isLong ? " × ln(number of keys)" : ""}`,
    grids: [
      byPair(about, "products", (position) => c.products(position)),
      byPair(about, "scores", (position) => c.products(position).map((value) => value * c.scaleOf(position)), {
        sign: isLong ? "→" : `× ${number(factor)} =`,
      }),
    ],
    checks: c.hasWeights
      ? [[allowed.map((position) => found[position] * scale), allowed.map((position) => engine[position])]]
      : undefined,
    sentence: `${number(found[key])} × ${number(factor)}${isLong ? ` × ln ${allowed.length}` : ""} = ${number(found[key] * scale)}: the score of ${called(about, key)}.${softmax ? " Without the factor, longer vectors would have larger products, and the softmax would be sharper." : ""}`,
  };
}

function weights(about: About): Stage {
  const { c, key } = about;
  const [own, found] = [c.scores(), c.weights()];
  const allowed = c.positions.filter((position) => c.allows(position));
  const most = Math.max(...allowed.map((position) => own[position]));
  const total = allowed.reduce((total, position) => total + Math.exp(own[position] - most), 0);
  const hidden = (values: number[], query: number) =>
    values.map((value, position) => (c.allows(position, query) ? value : null));
  const { rate, softmax } = c.parts;
  const isShare = softmax && rate === 1;
  const share = isShare
    ? `${called(about, c.query)} gives ${percent(found[key])} of its attention to ${key === c.query ? "itself" : called(about, key)}`
    : `the weight of ${called(about, key)} for ${called(about, c.query)} is ${number(found[key])}`;
  const isSet = c.isChanged("softmax");
  const exponential = "exp(score) / sum of exp(score) over the keys";
  const mixed = rate < 1 ? ` Times the rate ${rate}, plus ${precise(1 - rate)}` : "";
  return {
    title: softmax ? "Softmax" : "Weights",
    isChanged: isSet,
    formula: !softmax
      ? "weight = score"
      : isShare
        ? `weight = ${exponential}`
        : `weight = ${rate} × ${exponential} + ${precise(1 - rate)}`,
    grids: [
      byPair(about, "scores", (query) => hidden(c.scores(query), query)),
      byPair(about, "weights", (query) => hidden(c.weights(query), query), { sign: "→" }),
    ],
    checks: c.hasWeights ? [[c.mixed(), found]] : undefined,
    sentence: isSet
      ? `You have set the weights of this query: ${share}.`
      : c.allows(key) && !softmax
        ? `This model has no softmax: ${share}, as its score. Weights may be below 0, and need not add up to 1.`
        : c.allows(key)
          ? `exp(${number(own[key])} − ${term(most)}) = ${number(Math.exp(own[key] - most))}; divided by the sum over the keys, ${number(total)}, it is ${number(Math.exp(own[key] - most) / total)}${mixed ? `.${mixed}` : ""}: ${share}. The largest score is subtracted first, which changes no weight.`
          : `${called(about, c.query)} may not look at ${called(about, key)}: its weight is 0.`,
  };
}

function context(about: About): Stage {
  const { c, key, names } = about;
  const [own, found, engine] = [c.weights(), c.context(), c.ofHead("context", c.query)];
  const isChanged = c.isChanged("context");
  const keys = [key, ...c.positions.filter((position) => position !== key)];
  return {
    title: "Weighted sum",
    formula: "context = sum of weight × value over the keys",
    isChanged,
    grids: [
      stack("weights", [[names.row(c.query), own.slice(0, names.count)]], {
        columns: c.positions.slice(0, names.count).map(names.row),
        key,
      }),
      byPosition(about, "V: values", (position) => c.ofHead("value", position), { sign: "×", chosen: key }),
      stack(
        "context",
        [
          ["sum", isChanged ? found : null],
          ["context", engine],
        ],
        { sign: "=" },
      ),
    ],
    checks: c.hasWeights ? [[found, engine]] : undefined,
    sentence: isChanged
      ? `The values times the weights begin with ${number(found[0])}; with your change, the context begins with ${number(engine[0])}.`
      : `The first number of the context is ${terms(
          keys.map((position) => own[position]),
          keys.map((position) => c.ofHead("value", position)[0]),
        )} = ${number(found[0])}; the value of ${called(about, key)} counts with the weight ${number(own[key])}.`,
  };
}

function residual({ c }: About): Stage | null {
  const engine = c.ofPosition("residual");
  const found = c.residual();
  const input = c.input();
  if (!engine) return null;
  const output = found?.output ?? (input && engine.map((value, at) => value - input[at]));
  const isProjected = c.facts.model?.attention?.output_projection !== false;
  const hasBias = found ? (found.projection?.hasBias ?? false) : c.facts.model?.attention?.output_bias !== false;
  const several = c.facts.heads > 1;
  const heads = several ? `The contexts of all ${c.facts.heads} heads, one after the other,` : "The context";
  const how = isProjected ? ` times the output matrix${hasBias ? ", plus its bias," : ""}` : "";
  const begin = `${heads}${how} ${several ? "give" : "gives"} an output that is added to the input`;
  const contexts = `${several ? "(context_1 … context_n)" : "context"}${isProjected ? ` W_O${hasBias ? " + b_O" : ""}` : ""}`;
  return {
    title: "Output and residual",
    formula: `residual = X + ${contexts}`,
    isChanged: c.isChanged("residual"),
    grids: [
      stack(several ? "contexts of all heads" : "context", [["context", c.contexts()]]),
      stack(
        "residual",
        [
          ["output", output],
          ["input", input],
          ["residual", found?.sum ?? engine],
        ],
        { sign: "→" },
      ),
    ],
    weights: found?.projection ? [matrixOf("W_O", found.projection)] : undefined,
    checks: found ? [[found.sum, engine]] : undefined,
    sentence:
      output && input
        ? `${begin}: the first numbers, ${number(output[0])} and ${number(input[0])}, make ${number(output[0] + input[0])}.`
        : `${begin}; the residual begins with ${number(engine[0])}.`,
  };
}

/** The norm of the residual. */
function norm({ c }: About): Stage | null {
  const [found, residual] = [c.norm(), c.ofPosition("residual")];
  const engine = c.facts.has_feed_forward ? null : c.ofPosition("output");
  return found && residual && normStage(c, "residual", residual, found, engine);
}

function feedForward(about: About): Stage | null {
  const { c } = about;
  const found = c.feedForward();
  const arrays = ["feed_forward_hidden", "feed_forward_residual", "output"];
  const [hidden, between, output] = arrays.map((name) => c.ofPosition(name));
  if (!found || !hidden || !between || !output || !c.hasWeights) return null;
  const alive = hidden.filter((value) => value > 0).length;
  const { activation, norm: place } = c.parts;
  const { call } = ACTIVATIONS[activation];
  const [input, source] = {
    post: ["norm", "norm"],
    pre: ["residual", "norm(residual)"],
    none: ["residual", "residual"],
  }[place];
  const sum = `${input} + hidden W_2${found.second.hasBias ? " + b_2" : ""}`;
  const how =
    activation === "relu"
      ? `${alive} of the ${hidden.length} hidden numbers are above 0, and the others are set to 0`
      : `${found.before ? "The norm" : "The residual"} becomes ${hidden.length} hidden numbers through ${call.slice(0, -1)}, the first ${number(found.hidden[0])}`;
  return {
    title: "Feed-forward",
    formula: `hidden = ${call}${source} W_1${found.first.hasBias ? " + b_1" : ""}),  output = ${found.norm ? `norm(${sum})` : sum}`,
    isChanged: c.isChanged("output"),
    grids: [
      stack("hidden", [["hidden", found.hidden]]),
      stack(
        "output of the layer",
        [
          [input, found.input],
          ["its norm", found.before?.scaled],
          ["layer's output", found.output],
          [found.norm ? "residual" : "sum", found.residual],
          ["second norm", found.norm?.scaled],
        ],
        { sign: "→" },
      ),
    ],
    checks: [
      [found.hidden, hidden],
      [found.residual, between],
      [found.block, output],
    ],
    sentence: `${place === "post" && activation !== "relu" ? how.replace("The residual", "The norm") : how}; the first number, ${number(found.input[0])}, becomes ${number(found.residual[0])}${found.norm ? `, and ${number(found.block[0])} after a second norm` : ""}.`,
  };
}

function later({ c }: About): Stage | null {
  const { layers } = c.facts;
  const { readout, readoutName } = c.read;
  const later = range(layers).slice(c.layer + 1);
  if (!later.length || !c.input(readout, c.layer + 1)) return null;
  const end = c.ofPosition("output", readout, layers - 1) ?? [];
  return {
    title: later.length > 1 ? "Later layers" : "Next layer",
    formula: "X = output of the layer before",
    grids: [
      stack(
        `vectors of ${readoutName}`,
        later.flatMap(
          (layer) =>
            [
              [`input of layer ${layer}`, c.input(readout, layer)],
              [`residual of layer ${layer}`, c.ofPosition("residual", readout, layer)],
              [`output of layer ${layer}`, c.ofPosition("output", readout, layer)],
            ] as [string, number[] | null][],
        ),
      ),
    ],
    sentence: `${later.length > 1 ? `Layers ${later[0]} to ${layers - 1} do` : `Layer ${later[0]} does`} the same with the outputs of the layer before; at the end the vector of ${readoutName} begins with ${number(end[0])}.`,
  };
}

function decision({ c, names }: About): Stage {
  const { logits, probabilities } = c.way;
  const found = c.classified();
  const several = logits.length > 1;
  const chances = chancesOf(logits);
  const chosen = several ? logits.indexOf(Math.max(...logits)) : Number(logits[0] > 0);
  const { readout, readoutName, readName, readsMean } = c.read;
  const after = readsMean
    ? `The classifier reads ${readName}. `
    : c.query === readout
      ? ""
      : `The classifier reads ${readoutName} alone. `;
  const weightsOf = (logit: number) => found?.classifier.rows.map((row) => row[logit]) ?? [];
  const output = readsMean ? "mean output" : `output of ${readoutName}`;
  const read = !c.parts.hasLastNorm ? output : readsMean ? "mean of norm(output)" : `norm(${output})`;
  const grids: Grid[] = [];
  if (found) {
    const reading: [string, number[] | null][] = [
      [output, found.output],
      ["norm", found.norm],
    ];
    const isHidden = found.hidden !== null;
    if (isHidden) grids.push(stack("what the classifier's hidden layer reads", reading));
    const rows: [string, number[] | null][] = isHidden ? [["hidden", found.hidden]] : reading;
    for (const logit of range(logits.length))
      rows.push([several ? `weights of ${names.className(logit)}` : "weights", weightsOf(logit)]);
    const title = isHidden ? "hidden numbers" : `output of ${readsMean ? "all positions" : readoutName}`;
    grids.push(
      stack(`${title}, and the classifier's weights`, rows, {
        chosen: found.norm && !isHidden ? 1 : 0,
        sign: isHidden ? "→" : undefined,
      }),
    );
  }
  grids.push({
    name: several ? "logits and probabilities" : "logit and probability",
    sign: found ? "→" : undefined,
    rows: several ? ["logits", "probabilities"] : ["answer"],
    columns: several ? range(logits.length).map(names.className) : ["logit", "probability"],
    values: several ? [logits, probabilities] : [[logits[0], probabilities[0]]],
    chosen: Number(several),
    key: several ? chosen : undefined,
  });
  const label = names.label === null ? "" : `, and the label is ${names.className(names.label)}`;
  const at = several ? chosen : 0;
  const hasBias = found ? found.classifier.hasBias : c.facts.model?.classifier_bias !== false;
  const how = found
    ? `${terms(found.read, weightsOf(at))}${hasBias ? ` + ${term(found.classifier.bias[at])}` : ""} = ${number(found.logits[at])}`
    : number(logits[at]);
  const [first, from] =
    (c.facts.model?.classifier_hidden ?? 0) > 0
      ? [`hidden = ${ACTIVATIONS[c.parts.activation].call}${read} × W_h${hasBias ? " + b_h" : ""}),  `, "hidden"]
      : ["", read];
  const b = hasBias ? " + b" : "";
  return {
    title: "Decision",
    formula: several
      ? `${first}logits = ${from} × W${b},  probabilities = softmax(logits)`
      : `${first}logit = ${from} · w${b},  probability = 1 / (1 + exp(−logit))`,
    grids,
    checks: found
      ? [
          [found.logits, logits],
          [chances, probabilities],
        ]
      : undefined,
    sentence: several
      ? `${after}The logit of ${names.className(chosen)} is ${how}, the highest: the model answers ${names.className(chosen)} with probability ${number(probabilities[chosen])}${label}.`
      : `${after}The logit is ${how}, and the probability of ${names.className(1)} is 1 / (1 + exp(${number(-logits[0])})) = ${number(chances[0])}: the model answers ${names.className(chosen)}${label}.`,
  };
}

// The view and its address: #sample=10&step=900&query=0&key=3&layer=0&head=0&show=weights
// and, with several runs, &run=1

const view = {
  run: 0, sample: 0, step: STEPS - 1, query: facts.cls, key: 0, layer: 0, head: 0, show: "weights",
  pin: null, temperature: 1, causal: false,
};

// The samples of a view: one, or all of a class.
function members(sample = view.sample) {
  if (typeof sample === "number") return [sample];
  return facts.samples.map((_, index) => index).filter((index) => facts.samples[index].label === MEANS[sample] && !isOwn(index));
}

// Whether a sample is the reader's own.
const isOwn = (sample) => facts.samples[sample].number === OWN;

const stepName = (step) => facts.steps[step] === null ? "unknown" : String(facts.steps[step]);
function sampleName(sample) {
  if (typeof sample !== "number") return meanText(sample, members(sample).length);
  return isOwn(sample) ? "your sample" : `sample ${facts.samples[sample].number}`;
}

function sampleKey(sample) {
  if (typeof sample !== "number") return sample;
  const { number, tokens } = facts.samples[sample];
  return isOwn(sample) ? [OWN, ...tokens.filter((_, position) => position !== facts.cls)].join("-") : String(number);
}

// A position's token; for several samples, the token that all have there.
function tokenAt(position, sample = view.sample) {
  const [first, ...others] = members(sample).map((index) => tokenText(index, position));
  return others.every((other) => other === first) ? first : "·";
}

// Whether a position decides the label of all these samples.
const marked = (position, sample = view.sample) => members(sample).every((index) => facts.samples[index].marked.includes(position));

// A position and its token, as a row's name.
const rowName = (position) => `${marked(position) ? "◆ " : ""}${position}: ${tokenAt(position)}`;

const isWhatIf = () => view.temperature !== 1 || view.causal;

function address() {
  const parts = {
    sample: sampleKey(view.sample), step: facts.steps[view.step] ?? view.step, query: view.query, key: view.key,
    layer: view.layer, head: view.head, show: view.show,
  };
  if (runs.length > 1) parts.run = view.run;
  if (view.pin) parts.pin = within(view.pin.run, () => [sampleKey(view.pin.sample), facts.steps[view.pin.step] ?? view.pin.step, ...(runs.length > 1 ? [view.pin.run] : [])].join(":"));
  if (view.temperature !== 1) parts.temperature = fixed(view.temperature, 3);
  if (view.causal) parts.causal = 1;
  return `#${new URLSearchParams(parts)}`;
}

function findSample(text) {
  if (text in MEANS && members(text).length) return text;
  if (text.startsWith(`${OWN}-`)) {
    const own = facts.samples.findIndex((_, index) => sampleKey(index) === text);
    return own >= 0 || !source.isLive ? (own < 0 ? null : own) : ownSample(text.slice(OWN.length).replaceAll("-", " "));
  }
  const index = facts.samples.findIndex((sample) => String(sample.number) === text);
  return index < 0 ? null : index;
}

function findStep(text) {
  const index = facts.steps.findIndex((step, at) => String(step ?? at) === text);
  return index < 0 ? null : index;
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const number = (name, count, otherwise) => {
    const value = parts.has(name) ? Number(parts.get(name)) : NaN;
    return Number.isInteger(value) && value >= 0 && value < count ? value : otherwise;
  };
  view.run = findRun(parts.get("run"));
  enter(representative(view.run));
  const firstPositive = Math.max(0, facts.samples.findIndex((sample) => sample.label > 0));
  view.sample = findSample(parts.get("sample") ?? "") ?? firstPositive;
  view.step = findStep(parts.get("step") ?? "") ?? STEPS - 1;
  view.query = number("query", P, facts.cls);
  view.key = number("key", P, facts.samples[members()[0]].marked[0] ?? 0);
  view.layer = number("layer", facts.layers, facts.layers - 1);
  view.head = number("head", facts.heads, 0);
  view.show = ["weights", "scores", "uniform"].includes(parts.get("show")) ? parts.get("show") : "weights";
  const [sample, step = "", pinned = null] = (parts.get("pin") ?? "").split(":");
  const run = findRun(pinned);
  const pin = within(run, () => ({ run, sample: findSample(sample), step: findStep(step) }));
  view.pin = pin.sample === null || pin.step === null ? null : pin;
  const temperature = Number(parts.get("temperature") ?? 1);
  view.temperature = temperature >= 0.01 && temperature <= 100 ? temperature : 1;
  view.causal = parts.get("causal") === "1";
}

// The matrix of one head. [query, key]
function matrix(sample, step, show = view.show) {
  const all = members(sample);
  const cells = new Float64Array(P * P);
  for (const index of all) {
    for (let query = 0; query < P; query++) {
      const row = rowOf(index, step, query, show);
      for (let key = 0; key < P; key++) cells[query * P + key] += row[key] / all.length;
    }
  }
  return cells;
}

function rowOf(sample, step, query, show) {
  const where = [step, sample, view.layer, view.head, query];
  if (show === "scores") return scoreRow(...where).map((score) => score / view.temperature);
  const may = (key) => allows(sample, query, key) && (!view.causal || key <= query);
  const weights = isWhatIf() ? softmax(scoreRow(...where), may, view.temperature) : weightRow(...where);
  if (show === "weights") return weights;
  let allowed = 0;
  for (let key = 0; key < P; key++) allowed += may(key);
  return weights.map((weight, key) => may(key) ? weight - 1 / allowed : 0);
}

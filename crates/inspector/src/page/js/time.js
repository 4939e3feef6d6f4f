// Training: the slider, and curves with a cursor at the shown step.

sections.push({
  start() {
    const step = () => ({ step: Number(byId("slider").value) });
    byId("slider").addEventListener("input", () => changeSoon(step()));
    byId("slider").addEventListener("change", () => change(step(), true));
    byId("play").addEventListener("click", () => play(!timer));
  },
  show: showTime,
});

const WIDTH = 640;
const HEIGHT = 150;
const EDGE = { left: 44, right: 12, top: 10, bottom: 24 };
const times = () => facts.steps.map((step, index) => step ?? index);
// The same axis for all runs, so that their curves can be compared.
const lastTime = runs.reduce((most, { facts }) => Math.max(most, ...facts.steps.map((step, index) => step ?? index), ...facts.loss.map((point) => point.step)), 1);
const xOf = (time) => EDGE.left + (time / lastTime) * (WIDTH - EDGE.left - EDGE.right);

// The sum of [CLS]'s attention on the positions that decide the label.
function onLabel(sample, step) {
  const { marked: positions } = facts.samples[sample];
  if (!positions.length) return NaN;
  const row = weightRow(step, sample, view.layer, view.head, facts.cls);
  return positions.reduce((sum, position) => sum + row[position], 0);
}

function meanOnLabel(samples, step) {
  const values = samples.map((sample) => onLabel(sample, step)).filter((value) => !Number.isNaN(value));
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : NaN;
}

const curves = new Map();
sections.push({
  renew() {
    play(false);
    curves.clear();
    drawn = "";
  },
});

// A curve over the recorded steps, computed only once.
function curve(run, sample) {
  const key = `${run},${sample},${view.layer},${view.head}`;
  if (!curves.has(key)) {
    const values = ofRun(run, () => times().map((_, step) => meanOnLabel(members(sample), step)));
    curves.set(key, within(run, times).map((time, step) => [time, values[step]]));
  }
  return curves.get(key);
}

// The loss curve; empty for a statistic unless all runs have losses at the same steps.
function lossOf(run) {
  const steps = within(run, () => facts.loss.map((point) => point.step));
  const everywhere = runs.every(({ facts }) => String(facts.loss.map((point) => point.step)) === String(steps));
  if (isStatistic(run) && !everywhere) return [];
  const values = ofRun(run, () => facts.loss.map((point) => point.loss));
  return steps.map((step, index) => [step, values[index]]);
}

// The style of the mean over a class: of more than two, colours from viridis without its lightest.
const styleOf = (name) => CLASSES > 2
  ? { style: "several", colour: colours(0.85 * MEANS[name] / (CLASSES - 1), { from: 0, to: 1 }).fill }
  : { style: name };

function coloured(element, colour) {
  if (colour) element.style[element.matches(".dot") ? "fill" : "stroke"] = colour;
  return element;
}

function chart(name, title, top, lines) {
  const yOf = (value) => HEIGHT - EDGE.bottom - (value / top) * (HEIGHT - EDGE.top - EDGE.bottom);
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", id: `chart-${name}`, role: "img", "aria-label": title });
  for (const share of [0, 0.5, 1]) {
    picture.append(draw("line", { x1: EDGE.left, x2: WIDTH - EDGE.right, y1: yOf(top * share), y2: yOf(top * share), class: "rule" }));
    picture.append(draw("text", { x: EDGE.left - 6, y: yOf(top * share) + 4, class: "tick end" }, fixed(top * share, 2)));
    picture.append(draw("text", { x: xOf(lastTime * share), y: HEIGHT - 6, class: share === 1 ? "tick end" : "tick middle" }, String(Math.round(lastTime * share))));
  }
  lines.forEach(({ points, style, colour }) => {
    const known = points.filter((point) => Number.isFinite(point[1]));
    const place = known.map(([time, value]) => `${xOf(time).toFixed(1)},${yOf(value).toFixed(1)}`);
    picture.append(coloured(draw("polyline", { points: place.join(" "), class: `line ${style}` }), colour));
    if (known.length < 12) known.forEach(([time, value]) => picture.append(coloured(draw("circle", { cx: xOf(time), cy: yOf(value), r: 3, class: `dot ${style}` }), colour)));
  });
  picture.append(draw("line", { y1: EDGE.top, y2: HEIGHT - EDGE.bottom, class: "cursor" }));
  picture.addEventListener("click", (event) => {
    const box = picture.getBoundingClientRect();
    const time = ((event.clientX - box.left) / box.width * WIDTH - EDGE.left) / (WIDTH - EDGE.left - EDGE.right) * lastTime;
    change({ step: nearest(time) }, true);
  });
  const key = lines.map(({ label, style, colour }) => make("span", { class: "key" }, draw("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" }, coloured(draw("line", { x1: 1, x2: 25, y1: 4, y2: 4, class: `line ${style}` }), colour)), isolate(label), " ", make("output", { class: "value" })));
  return make("figure", {}, make("figcaption", {}, make("b", {}, title), " ", ...key), picture);
}

function nearest(time) {
  let best = 0;
  const all = times();
  all.forEach((at, index) => { if (Math.abs(at - time) < Math.abs(all[best] - time)) best = index; });
  return best;
}

let drawn = "";
let lines = [];

function showTime() {
  const now = times()[view.step];
  const key = [view.run, view.sample, view.layer, view.head, view.pin?.run, view.pin?.sample].join();
  if (drawn !== key) {
    drawn = key;
    drawCharts();
  }
  const x = xOf(now);
  for (const cursor of document.querySelectorAll("#charts .cursor")) {
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
  }
  const values = document.querySelectorAll("#charts .value");
  lines.forEach(({ points, style }, index) => {
    const at = points.filter(([time]) => time <= now).at(-1);
    setText(values[index], !at || Number.isNaN(at[1]) ? "–" : fixed(at[1]) + (at[0] === now ? "" : ` (step ${at[0]})`));
  });
  byId("slider").value = view.step;
  byId("slider").setAttribute("aria-valuetext", `step ${stepName(view.step)}`);
  setText(byId("now"), `step ${stepName(view.step)}`);
}

function drawCharts() {
  const { pin } = view;
  const of = (run) => runs.length > 1 ? `${runName(run)}, ` : "";
  const losses = [{ label: `${of(view.run)}${facts.loss_over ?? "all training samples"}`, style: "loss", points: lossOf(view.run) }];
  if (pin && pin.run !== view.run) losses.push({ label: `Pinned: ${runName(pin.run)}`, style: "pinned", points: lossOf(pin.run) });
  const known = (name) => members(name).some((sample) => facts.samples[sample].marked.length);
  const attention = Object.keys(MEANS).filter(known).map((name) => ({ label: `${meanText(name)} in this page`, ...styleOf(name), points: curve(view.run, name) }));
  if (typeof view.sample === "number" && facts.samples[view.sample].marked.length) {
    attention.push({ label: sampleName(view.sample), style: "sample", points: curve(view.run, view.sample) });
  }
  if (pin && (pin.run !== view.run || pin.sample !== view.sample)) {
    const points = curve(pin.run, pin.sample);
    const label = `Pinned: ${of(pin.run)}${within(pin.run, () => sampleName(pin.sample))}`;
    if (points.some(([, value]) => Number.isFinite(value))) attention.push({ label, style: "pinned", points });
  }
  const most = (lines) => Math.max(...lines.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite), 0);
  const charts = [];
  lines = [];
  if (losses.some(({ points }) => points.length)) {
    charts.push(chart("loss", "Loss", most(losses) || 1, losses));
    lines.push(...losses);
  }
  if (attention.length) {
    charts.push(chart("attention", `Attention of [CLS] on the label's position, layer ${view.layer}, head ${view.head}`, view.run === "deviation" && !pin ? most(attention) || 1 : 1, attention));
    lines.push(...attention);
  }
  byId("charts").replaceChildren(...charts);
}

let timer = 0;

function play(on) {
  const wasOn = timer !== 0;
  clearInterval(timer);
  timer = 0;
  setText(byId("play"), on ? "Pause" : "Play");
  // While it plays, the address stays as it is: browsers limit how often it may change.
  if (wasOn && !on) change({}, false);
  if (!on) return;
  if (view.step === STEPS - 1) changeSoon({ step: 0 });
  // About four seconds for many steps, and time to look at each for few.
  const pace = Math.min(Math.max(4000 / STEPS, 40), 120);
  const stride = Math.max(Math.round(STEPS * pace / 4000), 1);
  timer = setInterval(() => {
    if (view.step === STEPS - 1) play(false);
    else changeSoon({ step: Math.min(view.step + stride, STEPS - 1) });
  }, pace);
}

// Everything put together: what is chosen changes the view, and the view is shown.

function show() {
  byId("step-list").value = view.step;
  byId("layer").value = view.layer;
  byId("head-list").value = view.head;
  byId("show").value = view.show;
  byId("temperature").value = Math.log2(view.temperature);
  setText(byId("temperature-value"), fixed(view.temperature, 2));
  byId("causal").checked = view.causal;
  if (isWhatIf()) byId("what-if").open = true;
  byId("pin").setAttribute("aria-pressed", String(Boolean(view.pin)));
  setText(byId("pin"), view.pin ? "Unpin" : "Pin for comparison");
  setText(byId("what"), describe());
  byId("what").classList.toggle("what-if", isWhatIf());
  showMatrices();
  showTime();
  showSamples();
  showChain();
}

function describe() {
  if (typeof view.sample !== "number") return `${sampleName(view.sample)[0].toUpperCase()}${sampleName(view.sample).slice(1)} here, at step ${stepName(view.step)}. Tokens that differ are shown as a dot.`;
  const { label } = head.samples[view.sample];
  const kind = label === null ? "label not known" : label ? "positive" : "negative";
  const result = OUTCOMES[outcome(view.sample, view.step)];
  return `Sample ${head.samples[view.sample].number} (${kind}), probability ${fixed(probability(view.sample, view.step))}${result ? `: ${result}` : ""}.`;
}

// Changes what is looked at. What is kept becomes a step that the back button returns to.
function change(parts, keep) {
  Object.assign(view, parts);
  history[keep ? "pushState" : "replaceState"](null, "", address());
  show();
}

// While something is dragged or played, once a frame; the address follows when it rests.
let waiting = 0;
function changeSoon(parts) {
  Object.assign(view, parts);
  waiting ||= requestAnimationFrame(() => { waiting = 0; show(); });
}

function options(select, names) {
  byId(select).append(...names.map((name, index) => make("option", { value: index }, name)));
  byId(select).addEventListener("change", () => change({ [{ "step-list": "step", "head-list": "head" }[select] ?? select]: Number(byId(select).value) }, true));
}

function listen() {
  options("step-list", range(STEPS).map(stepName));
  options("layer", range(head.layers).map(String));
  options("head-list", range(head.heads).map(String));
  byId("show").addEventListener("change", () => change({ show: byId("show").value }, true));
  byId("pin").addEventListener("click", () => change({ pin: view.pin ? null : { sample: view.sample, step: view.step } }, true));
  byId("slider").max = STEPS - 1;
  byId("slider").addEventListener("input", () => changeSoon({ step: Number(byId("slider").value) }));
  byId("slider").addEventListener("change", () => change({ step: Number(byId("slider").value) }, true));
  byId("play").addEventListener("click", () => play(!timer));
  const temperature = () => 2 ** Number(byId("temperature").value);
  byId("temperature").addEventListener("input", () => changeSoon({ temperature: temperature() }));
  byId("temperature").addEventListener("change", () => change({ temperature: temperature() }, true));
  byId("causal").addEventListener("change", () => change({ causal: byId("causal").checked }, true));
  byId("reset").addEventListener("click", () => change({ temperature: 1, causal: false }, true));
  byId("search").addEventListener("input", showSamples);
  for (const filter of ["class", "outcome"]) byId(filter).addEventListener("change", showSamples);
  byId("save-csv").addEventListener("click", () => save("csv", new Blob([exportCsv()], { type: "text/csv" })));
  byId("save-json").addEventListener("click", () => save("json", new Blob([exportJson()], { type: "application/json" })));
  byId("save-svg").addEventListener("click", () => save("svg", new Blob([exportSvg()], { type: "image/svg+xml" })));
  byId("save-png").addEventListener("click", exportPng);
  for (const event of ["popstate", "hashchange"]) {
    addEventListener(event, () => { if (location.hash !== address()) { readAddress(); show(); } });
  }
}

function showEvidence() {
  byId("notes").append(...head.notes.map((note) => make("li", {}, note)));
  for (const { name, text } of head.evidence) {
    const long = text.includes("\n");
    const content = long ? make("details", {}, make("summary", {}, "show"), make("pre", { tabindex: 0 }, text)) : text;
    byId("facts").append(make("dt", {}, name), make("dd", {}, content));
  }
}

async function start() {
  await unpack();
  readAddress();
  listen();
  showEvidence();
  byId("app").hidden = false;
  show();
  document.documentElement.dataset.ready = performance.now().toFixed(1);
}

start().catch((error) => {
  byId("said").className = "failed";
  say(`This page cannot be shown: ${error.message}. It needs a browser of 2023 or later.`);
  throw error;
});

// Controls change the view, and each change shows the view again.

function show() {
  showRun();
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
  for (const section of sections) section.show?.();
}

function describe() {
  if (typeof view.sample !== "number") return `${sampleName(view.sample)[0].toUpperCase()}${sampleName(view.sample).slice(1)} in this page, at step ${stepName(view.step)}. A dot stands for tokens that differ.`;
  const { label } = facts.samples[view.sample];
  const kind = label === null ? "label unknown" : className(label);
  const result = outcomeText(view.sample);
  const [chance] = ofRun(view.run, () => [probability(view.sample, view.step)]);
  const name = CLASSES > 2 ? "probability of its class" : "probability";
  const which = isStatistic(view.run) ? `${runName(view.run)} of the ${name}` : name;
  return `${isOwn(view.sample) ? "Your sample" : `Sample ${facts.samples[view.sample].number}`} (${kind}), ${which} ${fixed(chance)}${result ? `: ${result}` : ""}.`;
}

// Changes the view. If `keep`, the back button returns to the view before.
function change(parts, keep) {
  Object.assign(view, parts);
  history[keep ? "pushState" : "replaceState"](null, "", address());
  show();
}

// Changes the view at most once per frame, while something is dragged; the address changes at the end.
let waiting = 0;
function changeSoon(parts) {
  Object.assign(view, parts);
  waiting ||= requestAnimationFrame(() => { waiting = 0; show(); });
}

// The steps to choose from depend on the run.
let shownFacts;
function showRun() {
  byId("run").value = view.run;
  if (shownFacts === facts) return;
  shownFacts = facts;
  fillOptions("step-list", range(STEPS).map(stepName));
  byId("slider").max = STEPS - 1;
}

const fillOptions = (select, names) => byId(select).replaceChildren(...names.map((name, index) => make("option", { value: index }, name)));

function options(select, names) {
  fillOptions(select, names);
  byId(select).addEventListener("change", () => change({ [{ "step-list": "step", "head-list": "head" }[select] ?? select]: Number(byId(select).value) }, true));
}

function listen() {
  options("step-list", []);
  options("layer", range(facts.layers).map(String));
  options("head-list", range(facts.heads).map(String));
  byId("show").addEventListener("change", () => change({ show: byId("show").value }, true));
  byId("pin").addEventListener("click", () => change({ pin: view.pin ? null : { run: view.run, sample: view.sample, step: view.step } }, true));
  const temperature = () => 2 ** Number(byId("temperature").value);
  byId("temperature").addEventListener("input", () => changeSoon({ temperature: temperature() }));
  byId("temperature").addEventListener("change", () => change({ temperature: temperature() }, true));
  byId("causal").addEventListener("change", () => change({ causal: byId("causal").checked }, true));
  byId("reset").addEventListener("click", () => change({ temperature: 1, causal: false }, true));
  for (const event of ["popstate", "hashchange"]) {
    addEventListener(event, () => { if (location.hash !== address()) { readAddress(); show(); } });
  }
}

async function start() {
  await unpack();
  readAddress();
  listen();
  for (const section of sections) section.start?.();
  byId("app").hidden = false;
  show();
  document.documentElement.dataset.ready = performance.now().toFixed(1);
  await startLive();
}

start().catch((error) => {
  byId("said").className = "failed";
  say(`The page cannot start: ${error.message}. It needs a browser from 2023 or later.`);
  throw error;
});

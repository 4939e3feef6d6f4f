// The list of samples: searched, filtered, in order of probability.

sections.push({
  start() {
    const add = (select, names) => byId(select).append(...Object.entries(names).map(([value, name]) => make("option", { value }, name)));
    add("class", Object.fromEntries(Object.values(MEANS).map((label) => [label, className(label)])));
    add("outcome", Object.fromEntries(Object.entries(OUTCOMES).filter(([, name]) => name)));
    byId("search").addEventListener("input", showSamples);
    for (const filter of ["class", "outcome"]) byId(filter).addEventListener("change", showSamples);
  },
  show: showSamples,
});

const MOST_LISTED = 200;

function matches(sample, text) {
  if (!text) return true;
  const { number, tokens } = facts.samples[sample];
  if (String(number) === text) return true;
  const strings = ` ${tokens.map((_, position) => tokenText(sample, position)).join(" ")} `.toLowerCase();
  const ids = ` ${tokens.join(" ")} `;
  return ids.includes(` ${text} `) || strings.includes(text);
}

function showSamples() {
  const text = byId("search").value.trim().toLowerCase();
  const [wantedClass, wantedOutcome] = [byId("class").value, byId("outcome").value];
  const found = facts.samples.map((_, index) => index).filter((index) => matches(index, text)
    && (!wantedClass || String(facts.samples[index].label) === wantedClass)
    && (!wantedOutcome || outcomes(index).includes(wantedOutcome)));
  const chances = ofRun(view.run, () => facts.samples.map((_, index) => probability(index, view.step)));
  found.sort((one, other) => chances[other] - chances[one] || one - other);
  const means = Object.keys(MEANS).filter((name) => members(name).length > 0);
  const listed = found.slice(0, MOST_LISTED);
  setText(byId("count"), `${found.length} of ${facts.samples.length}, by probability at step ${stepName(view.step)}${listed.length < found.length ? `; the first ${MOST_LISTED} are listed` : ""}`);
  const focused = document.activeElement?.dataset?.sample;
  byId("list").replaceChildren(...means.map(meanEntry), ...listed.map((index) => sampleEntry(index, chances[index])));
  if (focused) document.querySelector(`#list [data-sample="${CSS.escape(focused)}"]`)?.focus();
}

// The outcome of a sample in the run, or in each run for a statistic.
const outcomes = (sample) => (isStatistic(view.run) ? [...runs.keys()] : [view.run]).map((run) => within(run, () => outcome(sample, view.step)));

function outcomeText(sample) {
  const found = outcomes(sample);
  const right = found.filter((kind) => kind === "right").length;
  return found.length === 1 ? OUTCOMES[found[0]] : found[0] && `right in ${right} of ${found.length} runs`;
}

const entry = (sample, ...children) => make("li", {}, make("button", {
  type: "button", "data-sample": sampleKey(sample), "aria-current": view.sample === sample ? "true" : null,
  onclick: () => change({ sample }, true),
}, ...children));

const meanEntry = (name) => entry(name, make("span", { class: "number" }, "mean"), make("span", { class: "tokens" }, meanText(name, members(name).length).replace("mean ", "")));

function sampleEntry(sample, chance) {
  const { number, label, marked: positions, tokens } = facts.samples[sample];
  const shown = tokens.slice(0, 24).map((_, position) => make("span", { class: positions.includes(position) ? "token marked" : "token" }, isolate((positions.includes(position) ? "◆" : "") + tokenText(sample, position))));
  const kind = isStatistic(view.run) ? "" : outcome(sample, view.step);
  return entry(sample,
    make("span", { class: "number" }, isOwn(sample) ? "yours" : String(number)),
    make("span", { class: "tokens" }, ...shown.flatMap((token) => [token, " "]), tokens.length > 24 ? "…" : null),
    make("span", { class: `outcome ${kind}` }, [label === null ? "" : className(label), outcomeText(sample)].filter(Boolean).join(", ")),
    make("span", { class: "probability" }, fixed(chance)));
}

// Surprises, one click each: a training, what one would expect of it, and what it does.

import { computed } from "@preact/signals";
import { surprisesOf } from "../parts/surprises.js";
import { canTrain } from "../parts/abilities.js";
import { calm } from "../parts/calm.js";
import { base, baseConfig, experiment, runs, settingsOf, shown } from "../state.js";
import { change, view } from "../view.js";

/** The view's `surprise` while the list is open and none is chosen. */
const OPEN = "list";

const all = computed(() => canTrain.value ? surprisesOf(baseConfig()) : []);
const name = computed(() => view.value.surprise);

/** Whether the list stands in the place of the guide. */
export const hasSurprises = computed(() => name.value !== "" && all.value.length > 0);

const COUNTS = ["", "One surprise", "Two surprises", "Three surprises", "Four surprises", "Five surprises"];

/** Opens the list; nothing for a page that has none. @param {{ class?: string }} props */
export function SurprisesButton(props) {
  return all.value.length > 0 && <button type="button" class={`surprises-open ${props.class ?? ""}`} onClick={() => { change({ guide: 0, surprise: OPEN, changes: {} }); focus("#surprises .list button"); }}>{COUNTS[all.value.length]}</button>;
}

/** The button that had the focus is gone. @param {string} selector */
const focus = (selector) => requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector(selector))?.focus());

/** @param {import("../parts/surprises.js").Surprise} surprise */
function show({ key, settings, look }) {
  const run = runs.peek()[0];
  change({ surprise: key, guide: 0, settings, changes: {}, sample: "", pin: null, show: "weights", ...(run && look ? look(run) : {}) });
}

function back() {
  change({ surprise: OPEN, settings: {}, changes: {}, sample: "" });
  focus("#surprises .list button");
}

function close() {
  change({ surprise: "" });
  focus(".surprises-open, #guide-start");
}

export function Surprises() {
  const chosen = all.value.find(({ key }) => key === name.value);
  return (
    <section id="surprises" aria-label="Surprises">
      <div class="list">
        <b>{COUNTS[all.value.length]}</b>
        {all.value.map((surprise) => <button type="button" key={surprise.key} id={`surprise-${surprise.key}`} aria-pressed={surprise === chosen} onClick={() => show(surprise)}>{surprise.title}</button>)}
        <button type="button" id="surprises-close" aria-label="Close the surprises" onClick={close}>×</button>
      </div>
      <div class="said">
        <p role="status">{chosen ? <Said surprise={chosen} /> : "Each trains the model in another way: what would you expect, and what does it do?"}</p>
        {chosen && <button type="button" id="surprise-back" onClick={back}>Back to the page's own training</button>}
      </div>
    </section>
  );
}

/** @param {{ surprise: import("../parts/surprises.js").Surprise }} props */
function Said({ surprise }) {
  const wanted = JSON.stringify(surprise.settings);
  // While steps play, the sentence changes a few times a second.
  const now = calm.value;
  const isShown = now && now.run === shown.value && JSON.stringify(settingsOf(base.value)) === wanted && JSON.stringify(view.value.settings) === wanted;
  const state = experiment.value;
  const expected = <><b>One would expect:</b> {surprise.expected} </>;
  if (!isShown) return <>{expected}{state?.key === wanted && state.state === "asks" ? <>This training may take long. <button type="button" class="link" onClick={state.start}>Train it</button></> : state?.key === wanted ? "The page trains it." : "The settings were changed since: choose it again."}</>;
  const seen = now.isWhatIf ? "" : surprise.seen(now);
  return <>{expected}<b>Seen:</b> {seen || "not in what is shown now. Choose the last step, or this surprise again."}</>;
}

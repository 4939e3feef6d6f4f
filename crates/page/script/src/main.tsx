// Starts the page: recorded numbers first, then the page's own.

import "./main.css";
import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { startExperiments } from "./state/experiments";
import { unpack } from "./state/recording";
import { prepareLive, startLive } from "./state/retraining";
import { page } from "./model/facts";
import { current, openAddress, origin, runs, shownRun } from "./state/state";
import { Announced, meaningOf } from "./draw/dom";
import { awaitsGuess } from "./state/guess";
import { change, view } from "./state/view";
import { Headline } from "./first/headline/headline";
import { SampleCard } from "./first/sample/sample-card";
import { Guide } from "./first/guide/guide";
import { Attention } from "./first/attention/attention";
import { TrainingPanel } from "./first/training/training";
import { tabs } from "./panels";
import { openWalkthrough } from "./walk/example";

/** How much of the page is made: one part after the other, so that no task holds up the browser for long. */
const made = signal(0);

function App() {
  const run = shownRun.value;
  if (!run) return <Headline />;
  // Attention alone has no training to tell of.
  const isTrained = !run.isAlone;
  return (
    <>
      <Headline />
      <div id="sight" class={awaitsGuess.value ? "asked" : ""}>
        {isTrained && <Guide />}
        <SampleCard />
        {made.value > 0 && <Attention />}
        {made.value > 0 && isTrained && <TrainingPanel />}
      </div>
      {made.value > 1 && isTrained && <Tabs />}
    </>
  );
}

function moveTab(event: KeyboardEvent) {
  const move = meaningOf(event, { ArrowLeft: -1, ArrowRight: 1 });
  if (!move) return;
  const all = tabs();
  const at = all.findIndex(({ key }) => key === view.value.tab);
  const next = all[(at + move + all.length) % all.length].key;
  change({ tab: next });
  document.getElementById(`tab-${next}`)?.focus();
}

function Tabs() {
  const all = tabs();
  const open = all.find(({ key }) => key === view.value.tab) ?? all[0];
  return (
    <section id="more" aria-label="More">
      <div role="tablist" aria-label="More" onKeyDown={moveTab}>
        {all.map(({ key, title }) => (
          <button
            type="button"
            role="tab"
            id={`tab-${key}`}
            key={key}
            aria-selected={key === open.key}
            aria-controls="panel"
            tabIndex={key === open.key ? 0 : -1}
            onClick={() => change({ tab: key })}
          >
            {title}
          </button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${open.key}`}>
        <open.Panel />
      </div>
    </section>
  );
}

const task = () => new Promise((done) => setTimeout(done));
// The browser paints no page that is not in sight.
const painted = () =>
  Promise.race([
    new Promise((done) => requestAnimationFrame(() => setTimeout(done))),
    new Promise((done) => setTimeout(done, 200)),
  ]);

const hasRun = () =>
  new Promise((done) =>
    effect(() => {
      if (shownRun.value) done(null);
    }),
  );

async function start() {
  if (page.example) return openWalkthrough(page.example);
  prepareLive();
  await unpack();
  openAddress();
  for (const event of ["popstate", "hashchange"]) addEventListener(event, openAddress);
  const root = document.getElementById("page") as HTMLElement;
  // What stands there for readers without scripts.
  root.replaceChildren();
  render(
    <main id="app">
      <App />
      <Announced />
    </main>,
    root,
  );
  const sight = hasRun()
    .then(task)
    .then(() => {
      made.value = 1;
    });
  // A page without a run is ready before its first training.
  if (shownRun.value) await sight;
  document.documentElement.dataset.ready = performance.now().toFixed(1);
  await painted();
  startLive();
  startExperiments();
  await sight;
  await task();
  made.value = 2;
}

// For scripts and the browser's console: what the page shows, and how to change it.
Object.assign(globalThis, { headlight: { view, change, here: current, shown: shownRun, runs, origin } });

start().catch((error) => {
  const failed = Object.assign(document.createElement("p"), {
    className: "failed",
    textContent: `The page cannot start: ${error.message}. It needs a browser from 2023 or later.`,
  });
  document.getElementById("page")?.prepend(failed);
  throw error;
});

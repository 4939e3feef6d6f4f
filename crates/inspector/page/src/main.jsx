// Starts the page: recorded numbers first, then the page's own.

import { signal } from "@preact/signals";
import { render } from "preact";
import { origin, openAddress, runs, shown, startExperiments, startLive, unpack, here } from "./state.js";
import { said } from "./parts/dom.jsx";
import { change, view } from "./view.js";
import { tabs } from "./panels.js";
import { Attention } from "./panels/attention.jsx";
import { Guide } from "./panels/guide.jsx";
import { Headline } from "./panels/headline.jsx";
import { SampleCard } from "./panels/sample-card.jsx";
import { Time } from "./panels/time.jsx";

/** Whether the first sight stands, so that what is below it can follow. */
const stands = signal(false);

function App() {
  if (!shown.value) return <Headline />;
  return (
    <>
      <Headline />
      <div id="sight">
        <Guide />
        <SampleCard />
        <Attention />
        <Time />
      </div>
      {stands.value && <Tabs />}
    </>
  );
}

/** @param {KeyboardEvent} event */
function moveTab(event) {
  const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!move) return;
  event.preventDefault();
  const at = tabs.findIndex(({ key }) => key === view.value.tab);
  const next = tabs[(at + move + tabs.length) % tabs.length].key;
  change({ tab: next });
  document.getElementById(`tab-${next}`)?.focus();
}

function Tabs() {
  const open = tabs.find(({ key }) => key === view.value.tab) ?? tabs[0];
  return (
    <section id="more" aria-label="More">
      <div role="tablist" aria-label="More" onKeyDown={moveTab}>
        {tabs.map(({ key, title }) => (
          <button type="button" role="tab" id={`tab-${key}`} key={key} aria-selected={key === open.key} aria-controls="panel" tabIndex={key === open.key ? 0 : -1} onClick={() => change({ tab: key })}>{title}</button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={`tab-${open.key}`}><open.Panel /></div>
    </section>
  );
}

const Said = () => <p id="said" class="unseen" role="status">{said.value}</p>;

async function start() {
  await unpack();
  openAddress();
  for (const event of ["popstate", "hashchange"]) addEventListener(event, openAddress);
  const root = /** @type {HTMLElement} */ (document.getElementById("page"));
  // What stands there for readers without scripts.
  root.replaceChildren();
  render(<main id="app"><App /><Said /></main>, root);
  document.documentElement.dataset.ready = performance.now().toFixed(1);
  // The browser paints the first sight before the rest is made; a page that is not in sight is not painted.
  await Promise.race([new Promise((done) => requestAnimationFrame(() => setTimeout(done))), new Promise((done) => setTimeout(done, 200))]);
  startLive();
  startExperiments();
  stands.value = true;
}

// For scripts and the browser's console: what the page shows, and how to change it.
Object.assign(globalThis, { headlight: { view, change, here, shown, runs, origin } });

start().catch((error) => {
  const failed = Object.assign(document.createElement("p"), { className: "failed", textContent: `The page cannot start: ${error.message}. It needs a browser from 2023 or later.` });
  document.getElementById("page")?.prepend(failed);
  throw error;
});

// A page of attention alone: weights from anywhere, over tokens; no model and no training.

import { computed } from "@preact/signals";
import { render } from "preact";
import { unpack } from "../own-numbers.js";
import { fixed, range } from "../numbers.js";
import { Choice, ColourChoice } from "../parts/choices.jsx";
import { said } from "../parts/dom.jsx";
import { percent, uniformText, weightsOf } from "../parts/sentence.js";
import { show } from "../parts/shown.js";
import { Foot, Matrices, Strip } from "../parts/side-by-side.jsx";
import { TokenRow } from "../parts/token-row.jsx";
import { here, openAddress, runs } from "../state.js";
import { change, readAddress, view } from "../view.js";

// More tokens than these may need more room than there is.
const MOST_IN_A_ROW = 9;
const MOST_LISTED = 300;

const weights = computed(() => here.value ? weightsOf(here.value) : new Float64Array());

function Samples() {
  const { run, sample } = /** @type {NonNullable<typeof here.value>} */ (here.value);
  if (run.samples.length < 2) return null;
  return (
    <Choice id="sample" label="Sample" value={sample} onChoose={(key) => change({ sample: key })}
      options={run.samples.slice(0, MOST_LISTED).map((one) => [one.key, `${one.key}: ${range(Math.min(run.positions, 12)).map((position) => run.tokenText(one, position)).join(" ")}`])} />
  );
}

/** The tokens, and bands from the query to where it looks. */
function Tokens() {
  const { run, sample, query } = /** @type {NonNullable<typeof here.value>} */ (here.value);
  const count = run.positions;
  return (
    <TokenRow query={query} weights={weights.value} isMarked={() => true} tile="4.7rem" about={`${run.name} ${sample} ${query}`}>
      <ol class="tiles" tabIndex={count > MOST_IN_A_ROW ? 0 : undefined} aria-label="Tokens; choose the query">
        {range(count).map((position) => (
          <li key={position} data-position={position} class={position === query ? "from" : ""}>
            <button type="button" class="tile" aria-pressed={position === query} title={`position ${position}: ${run.tokenAt(sample, position)}`} onClick={() => change({ query: position })}><bdi>{run.tokenAt(sample, position)}</bdi></button>
            <span class="under" aria-hidden="true">{position}</span>
            <span class="share">{percent(weights.value[position])}</span>
          </li>
        ))}
      </ol>
    </TokenRow>
  );
}

function Sentence() {
  const { run, sample, at, query, layer, head } = /** @type {NonNullable<typeof here.value>} */ (here.value);
  const most = weights.value.indexOf(Math.max(...weights.value));
  const name = (/** @type {number} */ position) => <><bdi>{run.tokenAt(sample, position)}</bdi> (position {position})</>;
  return <p id="sentence">{name(query)} gives the most attention, {fixed(weights.value[most], 3)}, to {most === query ? "itself" : name(most)}: layer {layer}, head {head}.{uniformText({ run, sample, at, layer, head })}</p>;
}

function App() {
  const { run } = /** @type {NonNullable<typeof here.value>} */ (here.value);
  /** @type {[string, string][]} */
  const kinds = [["weights", "weights"], ...(run.facts.without_scores ? [] : [/** @type {[string, string]} */ (["scores", "scores, before the softmax"])]), ["uniform", "difference from uniform"]];
  return (
    <>
      <header id="headline"><h1>{document.title}</h1></header>
      <div id="sight">
        <section id="card" class="card" aria-label="Tokens"><Samples /><Tokens /><Sentence /><p class="hint">Click a token to see where it looks. {run.facts.notes.join(" ")}</p></section>
        <section id="attention" class="card" aria-label="Attention">
          <div class="row tools" role="group" aria-label="What the matrix shows">
            <Choice id="show" label="Show" value={show.value} options={kinds} onChoose={(value) => change({ show: /** @type {import("../types").Show} */ (value) })} />
            <ColourChoice />
          </div>
          <Strip />
          <Matrices />
          <Foot />
          <p class="hint">Rows are queries (from), columns keys (to). Click a cell or use the arrow keys.</p>
        </section>
      </div>
      <p id="said" class="unseen" role="status">{said.value}</p>
    </>
  );
}

async function start() {
  await unpack();
  openAddress();
  const { facts, positions } = runs.value[0];
  // Under a causal mask, the first query sees itself alone.
  if (facts.masked && readAddress().query === undefined) view.value = { ...view.value, query: positions - 1 };
  const root = /** @type {HTMLElement} */ (document.getElementById("page"));
  root.replaceChildren();
  render(<main id="app"><App /></main>, root);
  document.documentElement.dataset.ready = performance.now().toFixed(1);
}

// For scripts and the browser's console: what the page shows, and how to change it.
Object.assign(globalThis, { headlight: { view, change, here } });

start().catch((error) => {
  const failed = Object.assign(document.createElement("p"), { className: "failed", textContent: `The page cannot start: ${error.message}. It needs a browser from 2023 or later.` });
  document.getElementById("page")?.prepend(failed);
  throw error;
});

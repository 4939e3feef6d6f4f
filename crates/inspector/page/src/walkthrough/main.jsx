// A page of worked examples, a step at a time; and their attention over tokens that the reader types. Without this
// script, the page shows all stages at once.

import { computed, signal } from "@preact/signals";
import { render } from "preact";
import { fixed, percent } from "../numbers.js";
import { Steps } from "../parts/steps.jsx";
import { attend, attending, lookers, tokensOf } from "./attend.js";
import { caseStages, numbersOf } from "./stages.js";

/** @type {import("./stages.js").Example} */
const example = JSON.parse(document.getElementById("example")?.textContent ?? "");

const shown = signal(0);
const row = signal(0);
const stage = signal(0);
const said = signal("");
const current = computed(() => example.cases[shown.value]);
const queries = computed(() => numbersOf(current.value, "weights")?.rows ?? []);
const source = computed(() => attending(current.value));

/** What the reader typed; null for the tokens of the example. @type {import("@preact/signals").Signal<string | null>} */
const typed = signal(null);
const place = signal(0);
const temperature = signal(1);
const causal = signal(false);

/** @param {number} to */
function openCase(to) {
  shown.value = to;
  row.value = 0;
  stage.value = Math.min(stage.value, caseStages(current.value, 0).length - 1);
  reset();
}

function reset() {
  typed.value = null;
  place.value = 0;
  temperature.value = source.value?.temperature ?? 1;
  causal.value = source.value?.isCausal ?? false;
}

function Cases() {
  if (example.cases.length < 2) return null;
  return (
    <label>Case <select id="case" value={shown.value} onChange={(event) => openCase(Number(event.currentTarget.value))}>
      {example.cases.map(({ title }, at) => <option key={at} value={at}>{title}</option>)}
    </select></label>
  );
}

function Stepper() {
  const stages = caseStages(current.value, row.value);
  const move = (/** @type {number} */ to) => {
    stage.value = to;
    said.value = `${to + 1} of ${stages.length}: ${stages[to].title}. ${stages[to].sentence}`;
  };
  return (
    <section id="stepper" aria-label="Step by step">
      <h2>Step by step</h2>
      <Steps stages={stages} at={Math.min(stage.value, stages.length - 1)} onMove={move}>
        <p class="row place">
          <Cases />
          {queries.value.length > 1 && (
            <label>Query <select id="query" value={row.value} onChange={(event) => { row.value = Number(event.currentTarget.value); }}>
              {queries.value.map((token, at) => <option key={at} value={at}>{token}</option>)}
            </select></label>
          )}
        </p>
        {current.value.about && <p>{current.value.about}</p>}
      </Steps>
    </section>
  );
}

function Visualiser() {
  const own = source.value;
  if (!own) return null;
  const usual = own.keys;
  /** @type {string[]} */
  let tokens = usual;
  let wrong = "";
  try {
    if (typed.value !== null) tokens = tokensOf(own, typed.value);
  } catch (error) {
    wrong = /** @type {Error} */ (error).message;
  }
  const isSeparate = usual.some((token) => /\s/.test(token));
  const looking = lookers(own, tokens);
  const canLook = looking.map((token) => own.queries.includes(token));
  const query = canLook[place.value] ? place.value : canLook.indexOf(true);
  const found = query < 0 ? null : attend(own, tokens, query, temperature.value, causal.value);
  const most = found ? found.weights.indexOf(Math.max(...found.weights)) : 0;
  return (
    <section id="visualiser" aria-labelledby="visualiser-title">
      <h2 id="visualiser-title">Tokens of your own</h2>
      <p>Type tokens of the example, in any order and as often as you like: each has the vectors that it has there. Then choose the one that looks. {own.hasOtherMask && "The mask of this case belongs to its own tokens, and is left out here."}</p>
      <div class="row">
        <label>Tokens <input id="own-tokens" spellcheck={false} value={typed.value ?? usual.join(isSeparate ? ", " : " ")} aria-describedby="own-said" aria-invalid={wrong !== ""} onInput={(event) => { typed.value = event.currentTarget.value; }} /></label>
        <label>Temperature <input id="temperature" type="range" min={-2} max={2} step={0.1} value={Math.log2(temperature.value)} aria-valuetext={temperature.value.toFixed(2)} onInput={(event) => { temperature.value = 2 ** Number(event.currentTarget.value); }} /> <output>{temperature.value.toFixed(2)}</output></label>
        {!own.isCross && <label><input id="causal" type="checkbox" checked={causal.value} onChange={(event) => { causal.value = event.currentTarget.checked; }} /> causal mask</label>}
        <button type="button" id="reset" onClick={reset}>Reset</button>
      </div>
      <p id="own-said" class="failed" role="alert">{wrong}</p>
      <div class="row tokens" role="group" aria-label="The token that looks">
        {looking.map((token, at) => <button key={at} type="button" aria-pressed={at === query} disabled={!canLook[at]} onClick={() => { place.value = at; }}><bdi>{token}</bdi></button>)}
      </div>
      {found ? (
        <>
          <p class="sentence">“{looking[query]}” gives {percent(found.weights[most])} of its attention to “{tokens[most]}”.{found.output && <> Its output is ({found.output.slice(0, 6).map((value) => fixed(value, 3)).join(", ")}{found.output.length > 6 ? ", …" : ""}).</>}</p>
          <ul class="bars" aria-label="Weights">
            {tokens.map((key, at) => (
              <li key={at}>
                <span class="name"><bdi>{key}</bdi></span>
                <span class="track" aria-hidden="true"><span class="bar" style={{ width: `${100 * found.weights[at]}%` }} /></span>
                <span class="value">{found.allowed[at] ? fixed(found.weights[at]) : "masked"}</span>
              </li>
            ))}
          </ul>
        </>
      ) : <p>The example has no query of these tokens. It has one of {own.queries.map((token) => `“${token}”`).join(", ")}.</p>}
    </section>
  );
}

const root = document.createElement("div");
const all = document.createElement("details");
all.append(Object.assign(document.createElement("summary"), { textContent: "All stages at once, beside the numbers that the document prints" }));
const sections = [...document.querySelectorAll("main > section")];
sections[0].before(root, all);
all.append(...sections);
addEventListener("beforeprint", () => { all.open = true; });
reset();
render(<><Stepper /><Visualiser /><p class="unseen" role="status">{said.value}</p></>, root);

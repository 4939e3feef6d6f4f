// The attention matrix of the shown sample, step, layer and head, beside a pinned one.

import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { changesFor } from "../changes.js";
import { page } from "../facts.js";
import { fixed, range } from "../numbers.js";
import { base, ghost, here, runOf, runs, settingsOf } from "../state.js";
import { change, view } from "../view.js";
import { apart, fitting, MOST_CELLS } from "../parts/matrices.js";
import { Matrix, MOST_LONG } from "../parts/matrix.jsx";
import { Picture } from "../parts/picture.jsx";
import { Save } from "../parts/save.jsx";
import { Legend, rangesOf } from "../parts/scale.jsx";
import { colourRange, head, layer, nowPanel, panels, pin, pinnedPanel, show } from "../parts/shown.js";
import { Thumbnails } from "../parts/thumbnails.jsx";

/** @typedef {import("../types").View} View */

// Words.

/** The sample, its label, and what the model makes of it. */
function describe() {
  const now = here.value;
  if (!now) return "";
  const { run, sample, one, at } = now;
  const name = run.sampleName(sample);
  const title = name[0].toUpperCase() + name.slice(1);
  if (!one) return `${title} in this page, at step ${run.stepName(at)}. A dot stands for tokens that differ.`;
  const chance = run.classCount > 2 ? "probability of its class" : "probability";
  const which = run.isStatistic ? `${run.name} of the ${chance}` : chance;
  const text = `${title} (${one.label === null ? "label unknown" : run.className(one.label)}), ${which} ${fixed(run.probability(one, at))}`;
  // Recorded results are those of the run, whatever the reader changes.
  if (now.isWhatIf && !run.isLive) return `${text}, recorded without the change.`;
  const result = outcomeText(one, at);
  return `${text}${now.isWhatIf ? " with the change" : ""}${result ? `: ${result}` : ""}.`;
}

/** @param {import("../types").Sample} sample @param {number} at */
function outcomeText(sample, at) {
  const { run } = /** @type {NonNullable<typeof here.value>} */ (here.value);
  const found = (run.isStatistic ? runs.value : [run]).map((own) => own.outcome(sample, at));
  if (!found[0]) return "";
  return found.length === 1 ? run.outcomes[found[0]] : `right in ${found.filter((kind) => kind === "right").length} of ${found.length} runs`;
}

const What = () => <p id="what" class={here.value?.isWhatIf && here.value.run.isLive ? "what-if" : ""}>{describe()}</p>;

// Controls.

const shape = computed(() => {
  const facts = here.value?.run.facts;
  return facts ? `${facts.layers},${facts.heads}` : "1,1";
});

/** @returns {[string, string][]} */
function runNames() {
  const statistics = runs.value.length > 1 && !page.apart ? ["mean", "deviation"] : [];
  return [...runs.value.keys(), ...statistics].map((key) => [String(key), runOf(/** @type {View["run"]} */ (key))?.name ?? ""]);
}

/** @param {{ id: string, label: string, value: string | number, options: [string | number, string][], onChoose: (value: string) => void }} props */
function Choice({ id, label, value, options, onChoose }) {
  return (
    <label>{label} <select id={id} value={String(value)} onChange={(event) => onChoose(event.currentTarget.value)}>
      {options.map(([key, text]) => <option value={String(key)} selected={String(key) === String(value)} key={key}>{text}</option>)}
    </select></label>
  );
}

/** @param {number} count @returns {[number, string][]} */
const numbered = (count) => range(count).map((at) => [at, String(at)]);

function Controls() {
  const [layers, heads] = shape.value.split(",").map(Number);
  const several = runs.value.length > 1;
  const { run } = view.value;
  return (
    <div class="row tools" role="group" aria-label="What the matrix shows">
      {several && <Choice id="run" label="Run" value={run} options={runNames()} onChoose={(key) => change({ run: key === "mean" || key === "deviation" ? key : Number(key), settings: {} })} />}
      {layers > 1 && <Choice id="layer" label="Layer" value={layer.value} options={numbered(layers)} onChoose={(value) => change({ layer: Number(value) })} />}
      {heads > 1 && <Choice id="head-list" label="Head" value={head.value} options={numbered(heads)} onChoose={(value) => change({ head: Number(value) })} />}
      <Choice id="show" label="Show" value={show.value} options={[["weights", "weights"], ["scores", "scores, before the softmax"], ["uniform", "difference from uniform"]]} onChoose={(value) => change({ show: /** @type {View["show"]} */ (value) })} />
      <ColourChoice />
      <Pin />
    </div>
  );
}

function ColourChoice() {
  const options = rangesOf(show.value);
  const value = options.some(([key]) => key === colourRange.value) ? colourRange.value : "unit";
  return <Choice id="range" label="Colours" value={value} options={options} onChoose={(key) => change({ range: /** @type {View["range"]} */ (key) })} />;
}

/** The shown view, as something to compare with. @param {import("../run.js").Run} run @param {import("../types").Changes} [changes] @returns {View["pin"]} */
function pinOf(run, changes = {}) {
  const now = here.peek();
  if (!now) return null;
  const settings = settingsOf(run);
  return {
    run: view.peek().run, sample: now.sample, step: now.step,
    ...(Object.keys(settings).length ? { settings } : {}), ...(Object.keys(changes).length ? { changes } : {}),
  };
}

/** The run before the experiment, if its matrices have the shape of the shown ones. */
const before = computed(() => {
  const [own, other] = [base.value, ghost.value];
  if (!own || !other || own === other || own.positions !== other.positions) return null;
  return other.members(sampleShown.value).length ? other : null;
});
const sampleShown = computed(() => here.value?.sample ?? "");

function Pin() {
  const isPinned = Boolean(pin.value);
  const other = before.value;
  const pinShown = () => change({ pin: isPinned || !base.peek() ? null : pinOf(/** @type {import("../run.js").Run} */ (base.peek()), here.peek()?.isWhatIf ? changesFor(base.peek(), view.peek().changes) : {}) });
  return (
    <>
      <button id="pin" type="button" aria-pressed={isPinned} onClick={pinShown}>{isPinned ? "Unpin" : other ? "Pin this" : "Pin for comparison"}</button>
      {!isPinned && other && <button id="pin-before" type="button" onClick={() => change({ pin: pinOf(other) })}>Pin the run before</button>}
      {!isPinned && here.value?.isWhatIf && <button id="pin-unchanged" type="button" onClick={() => change({ pin: pinOf(/** @type {import("../run.js").Run} */ (base.peek())) })}>Pin it unchanged</button>}
    </>
  );
}

// The width of the place for all matrices, and of a rem, in pixels.
const room = signal({ width: 640, rem: 16 });
// Matrices stand side by side from this width on, in rem.
const SIDE_BY_SIDE = 34;
const GAP = 10;
// The names of rows, and the least width of a column whose name has room for a token, in rem.
const WIDE_NAMES = 5.2;
const LEAST_WIDE = 3.3;

function Matrices() {
  const home = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => {
    const element = home.current;
    if (!element) return;
    const measure = () => {
      const [width, rem] = [element.clientWidth, parseFloat(getComputedStyle(document.documentElement).fontSize)];
      if (width !== room.peek().width || rem !== room.peek().rem) room.value = { width, rem };
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const all = panels.value;
  const now = here.value;
  if (!now) return null;
  const { width, rem } = room.value;
  const isBeside = all.length > 1 && width >= SIDE_BY_SIDE * rem;
  const own = isBeside ? (width - GAP * (all.length - 1)) / all.length : width;
  return (
    <div id="matrices" ref={home} class={[isBeside && "beside", all.length > 1 && "several", now.isWhatIf && "changed"].filter(Boolean).join(" ")} style={{ "--columns": isBeside ? all.length : 1 }}>
      {all.map((panel) => {
        const { positions, id } = panel;
        if (positions > MOST_CELLS) return <Picture panel={panel} query={now.query} chosen={now.key} room={own} rem={rem} key={id} />;
        const isNarrow = (own - WIDE_NAMES * rem) / positions < LEAST_WIDE * rem;
        const names = isNarrow ? (own < 20 * rem ? 2.8 : 4) : WIDE_NAMES;
        const { level, size } = fitting((own - names * rem) / positions - 2, rem);
        return <div class={["scroll", positions > MOST_LONG && "many", (isNarrow || positions > MOST_LONG) && "narrow"].filter(Boolean).join(" ")} key={id} style={{ "--positions": positions, "--names": `${names}rem`, "--room": `${own - 8}px` }}><Matrix panel={panel} query={now.query} chosen={now.key} level={level} size={size} /></div>;
      })}
    </div>
  );
}

/** Why there is no pinned matrix, or no difference. */
function Reason() {
  const [now, pinned] = [nowPanel.value, pinnedPanel.value];
  const text = typeof pinned === "string" ? pinned : now && pinned ? apart(now, pinned) : "";
  return text ? <p class="hint" id="pin-reason">{text}</p> : null;
}

function Foot() {
  const all = panels.value;
  if (!all.length) return null;
  // One legend for each scale.
  const legends = all.filter(({ scale }, at) => all.findIndex((other) => other.scale === scale) === at);
  return (
    <div class="row foot">
      {legends.map(({ id, scale, positions }) => scale && <Legend scale={scale} positions={positions} key={id} />)}
      <Save panels={() => panels.peek()} />
    </div>
  );
}

function Strip() {
  const [layers, heads] = shape.value.split(",").map(Number);
  const now = nowPanel.value;
  if (!now || layers * heads < 2) return null;
  return <Thumbnails place={now.place} colourRange={colourRange.value} />;
}

export function Attention() {
  return (
    <section id="attention" class="card" aria-labelledby="attention-title">
      <div class="row heading"><h2 id="attention-title">Attention</h2><What /></div>
      <Controls />
      <Strip />
      <Reason />
      <Matrices />
      <Foot />
      <p class="hint">Rows are queries (from), columns keys (to). <span aria-hidden="true">◆</span> decides the label. Click a cell or use the arrow keys.</p>
    </section>
  );
}

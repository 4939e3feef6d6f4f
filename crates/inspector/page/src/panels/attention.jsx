// The attention matrix of the shown sample, step, layer and head, beside a pinned one.

import { computed } from "@preact/signals";
import { changesFor } from "../changes.js";
import { fixed } from "../numbers.js";
import { base, ghost, here, runs, settingsOf } from "../state.js";
import { change, view } from "../view.js";
import { paced } from "../parts/calm.js";
import { Choice, ColourChoice } from "../parts/choices.jsx";
import { Foot, Matrices, Reason, Strip } from "../parts/side-by-side.jsx";
import { head, layer, pin, show } from "../parts/shown.js";
import { isOff, toggleHead } from "../parts/what-if.js";

/** @typedef {import("../types").View} View */

// Words.

/** The sample, its label, and what the model makes of it. */
function describe() {
  const now = paced.value;
  if (!now) return "";
  const { run, sample, one, at } = now;
  const name = run.sampleName(sample);
  const title = name[0].toUpperCase() + name.slice(1) + (run.asksEach ? `, position ${run.reader}` : "");
  if (!one) return `${title} in this page, at step ${run.stepName(at)}. · stands where their tokens differ.`;
  if (run.isAlone) return `${title}.`;
  const chance =
    run.classCount < 3
      ? "probability"
      : one.label === null
        ? `probability of ${run.className(run.predicted(one, at))}`
        : "probability of its class";
  const text = `${title} (${one.label === null ? "label unknown" : run.className(one.label)}), ${chance} ${fixed(run.probability(one, at))}`;
  const result = run.outcomes[run.outcome(one, at)];
  return `${text}${now.isWhatIf ? " with the change" : ""}${result ? `: ${result}` : ""}.`;
}

const What = () => (
  <p id="what" class={paced.value?.isWhatIf ? "what-if" : ""}>
    {describe()}
  </p>
);

// Controls.

/** @returns {[string, string][]} */
const runNames = () => runs.value.map(({ name }, key) => [String(key), name]);

/** What the matrix can show of a run. @param {import("../run.js").Run | undefined} run @returns {[string, string][]} */
function showsOf(run) {
  const hasSoftmax = run?.model.attention?.softmax !== false;
  /** @type {[string, string][]} */
  const scores = run?.facts.without_scores ? [] : [["scores", hasSoftmax ? "scores, before the softmax" : "scores"]];
  return [
    ["weights", "weights"],
    ...scores,
    ...(hasSoftmax ? [/** @type {[string, string]} */ (["uniform", "difference from uniform"])] : []),
  ];
}

function Controls() {
  const several = runs.value.length > 1;
  const { run } = view.value;
  return (
    <div class="row tools" role="group" aria-label="What the matrix shows">
      {several && (
        <Choice
          id="run"
          label="Run"
          value={run}
          options={runNames()}
          onChoose={(key) => change({ run: Number(key), settings: {} })}
        />
      )}
      <Choice
        id="show"
        label="Show"
        value={show.value}
        options={showsOf(here.value?.run)}
        onChoose={(value) => change({ show: /** @type {View["show"]} */ (value) })}
      />
      <ColourChoice />
      <Pin />
      <HeadSwitch />
    </div>
  );
}

/** Switches the shown head off: it gives nothing to the residual stream. */
function HeadSwitch() {
  if (!base.value?.isLive) return null;
  const off = isOff(layer.value, head.value);
  return (
    <button
      id="head-switch"
      type="button"
      title="A head that is off adds nothing to the residual stream"
      onClick={() => toggleHead(layer.value, head.value)}
    >
      Turn head {off ? "on" : "off"}
    </button>
  );
}

/** The shown view, as something to compare with. @param {import("../run.js").Run} run @param {import("../types").Changes} [changes] @returns {View["pin"]} */
function pinOf(run, changes = {}) {
  const now = here.peek();
  if (!now) return null;
  const settings = settingsOf(run);
  return {
    run: view.peek().run,
    sample: now.sample,
    step: now.step,
    ...(Object.keys(settings).length ? { settings } : {}),
    ...(Object.keys(changes).length ? { changes } : {}),
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
  const pinShown = () =>
    change({
      pin:
        isPinned || !base.peek()
          ? null
          : pinOf(
              /** @type {import("../run.js").Run} */ (base.peek()),
              here.peek()?.isWhatIf ? changesFor(base.peek(), view.peek().changes) : {},
            ),
    });
  return (
    <>
      <button id="pin" type="button" aria-pressed={isPinned} onClick={pinShown}>
        {isPinned ? "Unpin" : other ? "Pin this" : "Pin"}
      </button>
      {!isPinned && other && (
        <button id="pin-before" type="button" onClick={() => change({ pin: pinOf(other) })}>
          Pin the run before
        </button>
      )}
      {!isPinned && here.value?.isWhatIf && (
        <button
          id="pin-unchanged"
          type="button"
          onClick={() => change({ pin: pinOf(/** @type {import("../run.js").Run} */ (base.peek())) })}
        >
          Pin unchanged
        </button>
      )}
    </>
  );
}

export function Attention() {
  return (
    <section id="attention" class="card" aria-labelledby="attention-title">
      <div class="row heading">
        <h2 id="attention-title">Attention</h2>
        <What />
      </div>
      <Controls />
      <Strip />
      <Reason />
      <Matrices />
      <Foot />
      <p class="hint">
        Rows are queries (from), columns keys (to).
        {here.value?.run.samples.some(({ marked }) => marked.length) && (
          <>
            {" "}
            <span aria-hidden="true">◆</span> decides the label.
          </>
        )}{" "}
        Click a cell or use the arrow keys.
      </p>
    </section>
  );
}

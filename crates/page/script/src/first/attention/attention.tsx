// The attention matrix of the shown sample, step, layer and head, beside a pinned one.

import { changesFor } from "../../sources/interventions";
import { fixed } from "../../model/numbers";
import { base, here, runs, settingsOf, shown } from "../../state/state";
import { change, view } from "../../state/view";
import { paced } from "../../state/tempo";
import { Choice } from "../../draw/dom";
import { rangesOf } from "../../draw/scale";
import { Foot, Matrices, Reason, Strip } from "./side-by-side";
import { colourRange, head, layer, pin, show } from "./shown";
import { isOff, toggleHead } from "../../state/intervene";
import type { Run } from "../../model/run";
import type { Pin, Range, Show } from "../../model/types";
import "./attention.css";

/** The sample, its label, and what the model makes of it. */
function describe() {
  const now = paced.value;
  if (!now) return "";
  const { run, sample, one, at } = now;
  const name = run.sampleName(sample);
  const title = name[0].toUpperCase() + name.slice(1) + (run.asksEach ? `, position ${run.reader}` : "");
  if (!one) return `${title} in this page, at step ${run.stepName(at)}. · stands where their tokens differ.`;
  if (run.isAlone) return `${title}.`;
  const isPredicted = run.classCount > 2 && one.label === null;
  const chance = isPredicted
    ? `probability of ${run.className(run.predicted(one, at))}`
    : run.classCount > 2
      ? "probability of its class"
      : "probability";
  const text = `${title} (${one.label === null ? "label unknown" : run.className(one.label)}), ${chance} ${fixed(run.probability(one, at))}`;
  const result = run.outcomes[run.outcome(one, at)];
  return `${text}${now.isWhatIf ? " with the change" : ""}${result ? `: ${result}` : ""}.`;
}

const What = () => (
  <p id="what" class={paced.value?.isWhatIf ? "what-if" : ""}>
    {describe()}
  </p>
);

/** What the matrix can show of a run. */
function showsOf(run: Run | null) {
  const scores = run?.model.attention?.softmax === false ? "scores" : "scores, before the softmax";
  return [["weights", "weights"], ...(run?.facts.without_scores ? [] : [["scores", scores]])];
}

function Controls() {
  const ranges = rangesOf(show.value, shown.value?.isShare);
  return (
    <div class="row tools" role="group" aria-label="What the matrix shows">
      {runs.value.length > 1 && (
        <Choice
          id="run"
          label="Run"
          value={view.value.run}
          options={runs.value.map(({ name }, key) => [key, name])}
          onChoose={(key) => change({ run: Number(key), settings: {} })}
        />
      )}
      <Choice
        id="show"
        label="Show"
        value={show.value}
        options={showsOf(shown.value)}
        onChoose={(value) => change({ show: value as Show })}
      />
      <Choice
        id="range"
        label="Colours"
        value={ranges.some(([key]) => key === colourRange.value) ? colourRange.value : "unit"}
        options={ranges}
        onChoose={(key) => change({ range: key as Range })}
      />
      <button
        id="pin"
        type="button"
        aria-pressed={Boolean(pin.value)}
        onClick={() => change({ pin: pin.value ? null : shownPin() })}
      >
        {pin.value ? "Unpin" : "Pin"}
      </button>
      <HeadSwitch />
    </div>
  );
}

/** Switches the shown head off: it gives nothing to the residual stream. */
const HeadSwitch = () =>
  base.value?.isLive ? (
    <button
      id="head-switch"
      type="button"
      title="A head that is off adds nothing to the residual stream"
      onClick={() => toggleHead(layer.value, head.value)}
    >
      Turn head {isOff(layer.value, head.value) ? "on" : "off"}
    </button>
  ) : null;

/** The shown view, as something to compare with. */
function shownPin(): Pin | null {
  const [now, run] = [here.peek(), base.peek()];
  const { run: key, changes } = view.peek();
  return (
    now &&
    run && {
      run: key,
      sample: now.sample,
      step: now.step,
      settings: settingsOf(run),
      changes: now.isWhatIf ? changesFor(run, changes) : {},
    }
  );
}

export const Attention = () => (
  <section id="attention" class="card" aria-labelledby="attention-title">
    <div class="row">
      <h2 id="attention-title">Attention</h2>
      <What />
    </div>
    <Controls />
    <Strip />
    <Reason />
    <Matrices />
    <Foot />
    <p class="hint">
      Rows are queries (from), columns keys (to).{" "}
      {shown.value?.samples.some(({ marked }) => marked.length) && "◆ decides the label by the rule. "}Click a cell or
      use the arrow keys.
    </p>
  </section>
);

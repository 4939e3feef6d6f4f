// The attention matrix of the shown sample, step, layer and head, beside a pinned one.

import { interventionsFor } from "../../sources/interventions";
import { Explained } from "../../draw/explained";
import { capital } from "../../model/sentence";
import { baseRun, current, runs, settingsOf, shownRun } from "../../state/state";
import { change, view } from "../../state/view";
import { currentHead, currentLayer, currentPin, currentRange, currentShow, current10Hz } from "../../state/current";
import { Choice } from "../../draw/dom";
import { rangesOf } from "../../draw/scale";
import { Foot, Matrices, Reason } from "./side-by-side";
import { Strip } from "./thumbnails";
import { isOff, toggleHead } from "../../state/intervene";
import type { Run } from "../../model/run";
import type { Pin, Range, Show } from "../../model/types";
import "./attention.css";

/** What the matrix is of; the card of the sample has its label and what the model makes of it. */
function describe() {
  const now = current10Hz.value;
  if (!now) return "";
  const { run, sample, one, at, hasInterventions } = now;
  const title = `${capital(run.sampleName(sample))}${run.asksEach ? `, position ${run.readout}` : ""}`;
  if (!one) return `${title} in this page, at step ${run.stepName(at)}. · stands where their tokens differ.`;
  return `${title}${hasInterventions ? ", with the intervention" : ""}.`;
}

const What = () => (
  <p id="what" class={current10Hz.value?.hasInterventions ? "intervened" : ""}>
    {describe()}
  </p>
);

/** What the matrix can show of a run. */
function showsOf(run: Run | null) {
  const scores = run?.model.attention?.softmax === false ? "scores" : "scores, before the softmax";
  return [["weights", "weights"], ...(run?.facts.without_scores ? [] : [["scores", scores]])];
}

function Controls() {
  const ranges = rangesOf(currentShow.value, shownRun.value?.isShare);
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
        value={currentShow.value}
        options={showsOf(shownRun.value)}
        onChoose={(value) => change({ show: value as Show })}
      />
      <Choice
        id="range"
        label="Colours"
        value={ranges.some(([key]) => key === currentRange.value) ? currentRange.value : "unit"}
        options={ranges}
        onChoose={(key) => change({ range: key as Range })}
      />
      <button
        id="pin"
        type="button"
        aria-pressed={Boolean(currentPin.value)}
        onClick={() => change({ pin: currentPin.value ? null : shownPin() })}
      >
        {currentPin.value ? "Unpin" : "Pin"}
      </button>
      <HeadSwitch />
    </div>
  );
}

/** Switches the shown head off: it gives nothing to the residual stream. */
const HeadSwitch = () =>
  baseRun.value?.isLive ? (
    <button
      id="head-switch"
      type="button"
      title="A head that is off adds nothing to the residual stream"
      onClick={() => toggleHead(currentLayer.value, currentHead.value)}
    >
      Turn head {isOff(currentLayer.value, currentHead.value) ? "on" : "off"}
    </button>
  ) : null;

/** The shown view, as something to compare with. */
function shownPin(): Pin | null {
  const [now, run] = [current.peek(), baseRun.peek()];
  const { run: key, changes } = view.peek();
  return (
    now &&
    run && {
      run: key,
      sample: now.sample,
      step: now.step,
      settings: settingsOf(run),
      changes: now.hasInterventions ? interventionsFor(run, changes) : {},
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
      <Explained text="Each row is a query (from), each column a key (to)." />{" "}
      {shownRun.value?.samples.some(({ marked }) => marked.length) && "◆ decides the label by the rule. "}Click a cell
      or use the arrow keys.
    </p>
  </section>
);

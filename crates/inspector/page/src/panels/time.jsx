// The training: curves over all steps, and what moves through them.

import { computed } from "@preact/signals";
import { Chart } from "../parts/chart.jsx";
import { charts, isLate } from "../parts/curves.js";
import { isPlaying, play, speed } from "../parts/play.js";
import { here, origin, shown } from "../state.js";
import { change, changeSoon, view } from "../view.js";

// A list of more steps is of no help.
const MOST_LISTED = 200;
const SPEEDS = [0.5, 1, 2];

export function Time() {
  return (
    <section id="time" class="card" aria-labelledby="time-title">
      <div class="player">
        <h2 id="time-title">Training</h2>
        <div class="bar">
          <PlayButton />
          <Slider />
          <Now />
        </div>
        <Speed />
        <StepList />
      </div>
      <Missing />
      <Charts />
    </section>
  );
}

function PlayButton() {
  return (
    <button
      type="button"
      id="play"
      disabled={(shown.value?.times.length ?? 0) < 2}
      onClick={() => play(!isPlaying.value)}
    >
      {isPlaying.value ? "Pause" : "Play"}
    </button>
  );
}

function Slider() {
  const now = here.value;
  if (!now) return null;
  const { run, at } = now;
  const step = (/** @type {Event} */ event) => ({
    step: run.times[Number(/** @type {HTMLInputElement} */ (event.currentTarget).value)],
  });
  return (
    <label class="wide">
      <span class="unseen">Step</span>
      <input
        id="slider"
        type="range"
        min={0}
        max={run.times.length - 1}
        value={at}
        aria-valuetext={run.stepText(at)}
        onInput={(event) => changeSoon(step(event))}
        onChange={(event) => change(step(event))}
      />
    </label>
  );
}

// It is not announced: while the steps play, that would never end.
function Now() {
  const now = here.value;
  return (
    now && (
      <output id="now" for="slider" aria-live="off">
        {now.run.stepText(now.at)}
      </output>
    )
  );
}

function Speed() {
  return (
    <label class="speed">
      Speed{" "}
      <select
        id="speed"
        value={speed.value}
        onChange={(event) => {
          speed.value = Number(event.currentTarget.value);
        }}
      >
        {SPEEDS.map((times) => (
          <option key={times} value={times}>
            {times}×
          </option>
        ))}
      </select>
    </label>
  );
}

function StepList() {
  const run = shown.value;
  if (!run || run.times.length > MOST_LISTED) return null;
  return (
    <label>
      Step <Steps run={run} />
    </label>
  );
}

/** @param {{ run: import("../run.js").Run }} props */
function Steps({ run }) {
  return (
    <select
      id="step-list"
      value={here.value?.at}
      onChange={(event) => change({ step: run.times[Number(event.currentTarget.value)] })}
    >
      {run.times.map((time, at) => (
        <option key={time} value={at}>
          {run.stepName(at)}
          {time === run.facts.best ? " (best)" : ""}
        </option>
      ))}
    </select>
  );
}

/** The step that an address asks for, if it is not shown. */
const missing = computed(() => {
  const now = here.value;
  const { step } = view.value;
  if (!now || !Number.isFinite(step) || step === now.step) return "";
  const { run } = now;
  const shows = `step ${run.stepName(now.at)} is shown`;
  if (step > run.last) return `The training ended after ${run.last} steps: ${shows} instead of step ${step}.`;
  if (run.isLive) return `The page keeps ${run.times.length} of ${run.last + 1} steps, and not step ${step}: ${shows}.`;
  return `Step ${step} was not recorded: ${shows}${origin.value.kind === "training" ? " until the page has trained the run" : ", the nearest one"}.`;
});

const Missing = () =>
  missing.value ? (
    <p class="hint" id="missing-step">
      {missing.value}
    </p>
  ) : null;

function Charts() {
  return (
    <div id="charts" class={isLate.value ? "late" : ""} aria-busy={isLate.value}>
      {charts.value.map((chart) => (
        <Chart key={chart.name} chart={chart} />
      ))}
    </div>
  );
}

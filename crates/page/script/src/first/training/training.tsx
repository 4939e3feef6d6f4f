// The training: curves over all steps, and what moves through them.

import { computed } from "@preact/signals";
import { Chart } from "./chart";
import { charts, isLate } from "./curves";
import { isPlaying, play } from "../../state/play";
import { current10Hz } from "../../state/current";
import { current, shownRun } from "../../state/state";
import { change, changeSoon, view } from "../../state/view";
import "./training.css";

export function TrainingPanel() {
  return (
    <section id="time" class="card" aria-labelledby="time-title">
      <div class="row">
        <h2 id="time-title">Training</h2>
        <div class="bar row">
          <PlayButton />
          <Slider />
          <Now />
        </div>
      </div>
      <p class="hint" id="missing-step">
        {missing}
      </p>
      <div id="charts" class={isLate.value ? "late" : ""} aria-busy={isLate.value}>
        {charts.value.map((chart) => (
          <Chart key={chart.name} chart={chart} />
        ))}
      </div>
    </section>
  );
}

function PlayButton() {
  return (
    <button
      type="button"
      id="play"
      disabled={(shownRun.value?.times.length ?? 0) < 2}
      onClick={() => play(!isPlaying.value)}
    >
      {isPlaying.value ? "Pause" : "Play"}
    </button>
  );
}

function Slider() {
  const now = current.value;
  if (!now) return null;
  const { run, at } = now;
  const step = (event: Event) => ({
    step: run.times[Number((event.currentTarget as HTMLInputElement).value)],
  });
  return (
    <label>
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
  const now = current10Hz.value;
  return (
    now && (
      <output id="now" for="slider" aria-live="off">
        {now.run.stepText(now.at)}
      </output>
    )
  );
}

/** That the step of an address is not shown. */
const missing = computed(() => {
  const [now, { step }] = [current.value, view.value];
  return now && Number.isFinite(step) && step !== now.step
    ? `Step ${step} is not in this page: step ${now.run.stepName(now.at)} is shown.`
    : "";
});

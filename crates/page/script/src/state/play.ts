// Plays the steps of the shown run, one after the other.

import { computed, effect, signal } from "@preact/signals";
import { current } from "./state";
import { changeSoon, settleAddress, view } from "./view";

// All steps of a run, in milliseconds; of few steps, each has time to be looked at.
const PLAY_ALL_MS = 4000;
const MAX_STEP_MS = 500;
// A page that was hidden goes on where it was.
const MAX_FRAME_MS = 250;

export const isPlaying = signal(false);
/** Whether what changes is spoken: the sample, a token or the step. While steps play, that would never end. */
export const spoken = computed(() => (isPlaying.value ? "off" : "polite"));

let frame = 0;
/** The step that playing has set. Another one in the view was chosen by the reader. */
let played = NaN;

/** Plays from the shown step, or from the first one if the last is shown or none was chosen; or pauses. */
export function play(on = true) {
  if (on === isPlaying.peek()) return;
  if (on) start();
  else {
    stop();
    settleAddress();
  }
}

function start() {
  const now = current.peek();
  const count = (now?.run.times.length ?? 0) - 1;
  if (!now || count < 1) return;
  const { steps } = now.run.facts;
  const { times } = now.run;
  const pace = count / Math.min(PLAY_ALL_MS, MAX_STEP_MS * count);
  const isChosen = Number.isFinite(view.peek().step);
  let place = now.at === count || !isChosen ? 0 : now.at;
  let before = performance.now();
  const show = () => {
    played = times[Math.floor(place)];
    if (played !== view.peek().step) changeSoon({ step: played });
  };
  const next = (time: number) => {
    // Changes of the reader make another run with the same steps; a training makes one with others.
    if (current.peek()?.run.facts.steps !== steps) return play(false);
    place = Math.min(place + Math.min(Math.max(time - before, 0), MAX_FRAME_MS) * pace, count);
    before = time;
    show();
    if (place === count) {
      // Whoever has chosen no step, sees the best model again.
      if (!isChosen && current.peek()?.run.facts.best !== undefined) changeSoon({ step: (played = Infinity) });
      play(false);
    } else if (isPlaying.peek()) frame = requestAnimationFrame(next);
  };
  show();
  isPlaying.value = true;
  frame = requestAnimationFrame(next);
}

function stop() {
  cancelAnimationFrame(frame);
  isPlaying.value = false;
}

effect(() => {
  const { step } = view.value;
  if (isPlaying.peek() && step !== played) stop();
});
// Back shows an address, and goes on showing it.
for (const event of ["popstate", "hashchange"]) addEventListener(event, stop);

// What is shown, for parts of many numbers: while the steps play, a few times a second.

import { effect, signal, type Signal } from "@preact/signals";
import { here } from "./state";
import { isPlaying } from "./play";

// In milliseconds. Nobody reads numbers and sentences that change more often; arcs and cursors move with each frame.
const PAUSE = 100;
const PANEL_PAUSE = 150;

/** For what is read on the first sight: at once while nothing plays. */
export const paced: Signal<typeof here.value> = signal(here.peek());
let shownAt = 0;
effect(() => {
  const now = here.value;
  const time = performance.now();
  if (isPlaying.value && time - shownAt < PAUSE) return;
  shownAt = time;
  paced.value = now;
});

/** For panels below the first sight: after it, and not while they are out of sight. */
export const calm: Signal<typeof here.value> = signal(null);

let waiting: ReturnType<typeof setTimeout> | undefined;

const isInSight = () => (document.getElementById("more")?.getBoundingClientRect().top ?? 0) < innerHeight;

effect(() => {
  void here.value;
  const show = () => {
    waiting = undefined;
    if (!isPlaying.peek() || isInSight()) calm.value = here.peek();
  };
  if (!isPlaying.value) {
    clearTimeout(waiting);
    waiting = setTimeout(show);
  } else waiting ??= setTimeout(show, PANEL_PAUSE);
});

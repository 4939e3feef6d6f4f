// What is shown, for panels of many numbers: while the steps play, a few times a second.

import { effect, signal } from "@preact/signals";
import { here } from "../state.js";
import { isPlaying } from "./play.js";

const PAUSE = 150;

/** @type {import("@preact/signals").Signal<typeof here.value>} */
export const calm = signal(null);

/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

effect(() => {
  const now = here.value;
  if (!isPlaying.value) {
    clearTimeout(waiting);
    waiting = undefined;
    calm.value = now;
  } else {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      calm.value = here.peek();
    }, PAUSE);
  }
});

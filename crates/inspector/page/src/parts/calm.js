// What is shown, for panels of many numbers below the first sight: after it, and while the steps play, a few times a second.

import { effect, signal } from "@preact/signals";
import { here } from "../state.js";
import { isPlaying } from "./play.js";

const PAUSE = 150;

/** @type {import("@preact/signals").Signal<typeof here.value>} */
export const calm = signal(null);

/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

effect(() => {
  void here.value;
  const show = () => {
    waiting = undefined;
    calm.value = here.peek();
  };
  if (!isPlaying.value) {
    clearTimeout(waiting);
    waiting = setTimeout(show);
  } else waiting ??= setTimeout(show, PAUSE);
});

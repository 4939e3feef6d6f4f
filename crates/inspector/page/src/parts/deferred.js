// What can wait until the browser has done what it must do at once.

import { effect, signal } from "@preact/signals";

/** A signal's value, one task later: what reads it does not hold up what reads the signal. @template T @param {import("@preact/signals").ReadonlySignal<T>} source @returns {import("@preact/signals").ReadonlySignal<T>} */
export function later(source) {
  const found = signal(source.peek());
  effect(() => {
    const { value } = source;
    const timer = setTimeout(() => {
      found.value = value;
    });
    return () => clearTimeout(timer);
  });
  return found;
}

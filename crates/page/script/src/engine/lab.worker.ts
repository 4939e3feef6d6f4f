// The worker: trains, and computes what would hold up the page.

import { inflated } from "../model/packed";
import { Lab, sizeOf } from "./lab";

// A training reports its steps at this interval, in milliseconds, and at most this many of them at once.
const REPORT_MS = 100;
const MAX_STEPS_PER_REPORT = 250;
const FIRST_STEPS = 8;
let lab: Promise<Lab>;
/** The weights of each kept step of this worker's training: to send them for each curve would take longer than the curve. */
let weights: Float32Array[] = [];

const TASKS: Record<string, (lab: Lab, task: any, tell: (answer: any, moved?: Transferable[]) => void) => void> = {
  // A whole training, with the rows of its steps.
  train(lab, { config, steps: most, tokens, keep, samples }, tell) {
    const begun = lab.ask({ operation: "begin", config, steps: most, tokens, keep, samples });
    tell({ begun: { ...begun, floats: null } });
    const count = begun.row[0][1];
    const size = sizeOf(begun.row);
    weights = [];
    for (let done = false, steps = FIRST_STEPS; !done;) {
      const before = performance.now();
      const part = lab.ask({ operation: "advance", steps });
      done = part.done;
      steps = Math.min(
        MAX_STEPS_PER_REPORT,
        Math.max(1, Math.floor((steps * REPORT_MS) / (performance.now() - before))),
      );
      const own = new Float32Array(part.kept.length * count);
      for (const at of part.kept.keys())
        own.set(part.floats.subarray(part.losses + at * size).subarray(0, count), at * count);
      weights.push(own);
      tell({ part }, [part.floats.buffer]);
    }
    tell({ ended: { ...lab.ask({ operation: "end" }), floats: null } });
  },
  // The outcome of a training for each seed.
  seeds(lab, { config, seeds, samples }, tell) {
    for (const seed of seeds) {
      try {
        tell({
          seed: { ...lab.ask({ operation: "summary", config: { ...config, seed }, samples }), seed, floats: null },
        });
      } catch (error) {
        // A training can diverge with one seed, and not with others.
        tell({ seed: { seed, failed: error instanceof Error ? error.message : String(error) } });
      }
    }
    tell({ ended: true });
  },
  // The rows of other samples, or with other interventions, at all kept steps of this worker's training.
  watch(lab, { head }, tell) {
    if (weights.length > 1) weights = [joined(weights)];
    const answer = lab.ask(head, weights[0]);
    tell({ ended: answer }, [answer.floats.buffer]);
  },
};

function joined(parts: Float32Array[]) {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let start = 0;
  for (const part of parts) {
    all.set(part, start);
    start += part.length;
  }
  return all;
}

onmessage = async ({ data: { id, packed, module, task } }) => {
  try {
    // The first worker makes the module, which the page hands to the others.
    if (packed) module = await WebAssembly.compile(await inflated(packed).arrayBuffer());
    if (module) lab = Lab.of(module);
    if (packed) postMessage({ id, ended: module });
    if (!task) return;
    TASKS[task.name](await lab, task, (answer, moved = []) => postMessage({ id, ...answer }, { transfer: moved }));
  } catch (error) {
    postMessage({ id, failed: error instanceof Error ? error.message : String(error) });
  }
};

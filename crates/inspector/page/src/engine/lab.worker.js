// The worker: trains, and computes what would hold up the page.

import { Lab } from "./lab.js";

const PART = 250;
/** @type {Promise<Lab>} */
let lab;

/** @type {Record<string, (lab: Lab, task: any, tell: (answer: any, moved?: Transferable[]) => void) => void>} */
const TASKS = {
  // A whole training, with the rows of its steps.
  train(lab, { config, steps, tokens, samples }, tell) {
    const begun = lab.ask({ operation: "begin", config, steps, tokens, samples });
    tell({ begun: { ...begun, floats: null } });
    for (let step = 0; step < begun.steps;) {
      const part = lab.ask({ operation: "advance", steps: PART });
      step = part.step;
      tell({ part }, [part.floats.buffer]);
    }
    tell({ ended: { ...lab.ask({ operation: "end" }), floats: null } });
  },
  // The outcome of a training for each seed.
  seeds(lab, { config, seeds, samples }, tell) {
    for (const seed of seeds) {
      try {
        tell({ seed: { ...lab.ask({ operation: "summary", config: { ...config, seed }, samples }), seed, floats: null } });
      } catch (error) {
        // A training can diverge with one seed, and not with others.
        tell({ seed: { seed, failed: error instanceof Error ? error.message : String(error) } });
      }
    }
    tell({ ended: true });
  },
  // One request.
  ask(lab, { head, floats }, tell) {
    const answer = lab.ask(head, floats);
    tell({ ended: answer }, [answer.floats.buffer]);
  },
};

onmessage = async ({ data: { id, module, task } }) => {
  try {
    if (module) lab = Lab.of(module);
    if (!task) return;
    TASKS[task.name](await lab, task, (answer, moved = []) => postMessage({ id, ...answer }, { transfer: moved }));
  } catch (error) {
    postMessage({ id, failed: error instanceof Error ? error.message : String(error) });
  }
};

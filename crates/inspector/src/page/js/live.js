// The page trains its run again, compares the weights, and then shows what it computed: each step, not only the
// recorded ones. Until then, and where it cannot, it shows what was recorded.

// Above this number of multiplications, a training could take more than some seconds: the reader starts it.
const MOST_OPERATIONS = 2e9;

// The numbers of a training of this page.
class Live {
  isLive = true;

  constructor(lab, config, { row, parts, losses }) {
    Object.assign(this, { lab, config, losses });
    this.at = {};
    let size = 0;
    for (const [name, length] of row) {
      this.at[name] = [size, size + length];
      size += length;
    }
    this.rows = parts.flatMap((part) => part.kept.map((_, index) => part.floats.subarray(part.losses + index * size, part.losses + (index + 1) * size)));
    this.kept = { step: -1 };
    const { mask } = this.look(0);
    this.mask = mask.length ? Uint8Array.from(mask) : null;
  }

  // A part of a step's row.
  part(step, name) {
    return this.rows[step].subarray(...this.at[name]);
  }

  row(name, step, sample, layer, head, query) {
    const start = this.at[name][0] + matrixAt(sample, layer, head) + query * P;
    return Float64Array.from(this.rows[step].subarray(start, start + P));
  }

  scoreRow(...where) {
    return this.row("attention_scores", ...where);
  }

  weightRow(...where) {
    return this.row("attention_weights", ...where);
  }

  results(name, sample, step) {
    return Array.from(this.part(step, name).subarray(sample * facts.logits, (sample + 1) * facts.logits));
  }

  // All arrays of a step, computed with its weights.
  look(step) {
    const tokens = facts.samples.map((sample) => sample.tokens);
    const found = this.lab.ask({ operation: "look", config: this.config, tokens }, this.part(step, "weights"));
    let at = 0;
    for (const [name, length] of found.arrays) {
      found[name] = found.floats.subarray(at, at + length);
      at += length;
    }
    return found;
  }

  vectors(step) {
    if (this.kept.step !== step) this.kept = { step, found: this.look(step) };
    return this.kept.found;
  }
}

// Says once how the page's numbers came about, for readers and for scripts.
function settle(state, text) {
  document.documentElement.dataset.run = state;
  setText(byId("origin"), text);
}

function startLive() {
  const { live, recorded } = facts.again;
  if (!live) return settle("recorded", `Recorded: ${recorded}.`);
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") return settle("recorded", "Recorded: this browser has no WebAssembly or no workers, so that the page cannot train the run again.");
  if (live.operations <= MOST_OPERATIONS) return train(live);
  const button = make("button", { type: "button", onclick: () => train(live) }, "Train it again here");
  byId("origin").replaceChildren("Recorded. The page can train this run again, but that may take long. ", button);
}

async function train({ config, steps, weights_sha256: expected }) {
  const tokens = facts.samples.map((sample) => sample.tokens);
  const module = await WebAssembly.compile(await unpacked("lab", "gzip"));
  const parts = [];
  let row;
  const stop = make("button", { type: "button", onclick: () => { worker.terminate(); settle("recorded", "Recorded: the training of this page was stopped."); } }, "Stop");
  const told = make("span", {}, "Recorded. The page trains the run again.");
  byId("origin").replaceChildren(told, " ", stop);
  const worker = trainInWorker({ module, config, steps, tokens }, async (heard) => {
    if (heard.begun) ({ row } = heard.begun);
    if (heard.part) {
      parts.push(heard.part);
      setText(told, `Recorded. The page trains the run again: step ${heard.part.step} of ${steps}.`);
    }
    if (heard.failed) settle("recorded", `Recorded: the page could not train the run again (${heard.failed}).`);
    if (heard.ended) {
      const { weights_sha256: found } = heard.ended;
      if (found !== expected) return settle("differs", `Differs: the page trained the run again and got other weights. SHA-256 of model.safetensors: ${expected}; here: ${found}. The page shows what was recorded.`);
      showLive(new Lab(await WebAssembly.instantiate(module)), config, row, parts);
      settle("live", `Live: the page has trained this run again, and its weights are the same bytes as model.safetensors (SHA-256 ${found.slice(0, 12)}…). It computes all numbers below itself, at each step.`);
    }
  });
}

// Replaces recorded numbers by computed ones.
function showLive(lab, config, row, parts) {
  const steps = parts.flatMap((part) => part.kept);
  const losses = parts.flatMap((part) => Array.from(part.floats.subarray(0, part.losses)));
  const live = new Live(lab, config, { row, parts });
  runs[0] = {
    facts: {
      ...facts, steps,
      loss: losses.map((loss, index) => ({ step: index + 1, loss })),
      loss_over: "the samples of each batch",
      notes: [`The page trained the run itself, and has ${steps.length === losses.length + 1 ? "every step" : `${steps.length} of ${losses.length + 1} steps`}.`],
    },
    source: live,
  };
  enter(0);
  for (const section of sections) section.renew?.();
  readAddress();
  show();
}

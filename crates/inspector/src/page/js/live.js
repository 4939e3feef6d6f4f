// The page trains its run again, compares the weights, and then shows what it computed: each step, not only the
// recorded ones. Until then, and where it cannot, it shows what was recorded.

// The name of the reader's own sample, in addresses and files before its tokens.
const OWN = "own";

// Above this number of multiplications, a training could take more than some seconds: the reader starts it.
const MOST_OPERATIONS = 2e9;

// The numbers of a training of this page.
class Live {
  isLive = true;

  constructor(lab, config, row, parts) {
    Object.assign(this, { lab, config });
    this.trained = rowsOf(row, parts.flatMap((part) => part.kept.map((_, index) => [part.floats.subarray(part.losses), index])));
    this.samples = facts.samples;
    this.renew();
  }

  // After a change of the samples.
  renew() {
    this.kept = { step: -1 };
    const { mask } = this.look(0);
    this.mask = mask.length ? Uint8Array.from(mask) : null;
  }

  // A part of what the training kept of a step.
  part(step, name) {
    return this.trained[step][name];
  }

  // The numbers of a step that hold a sample, and the sample's place among them: the reader's own sample has its own.
  holding(step, sample) {
    return sample < this.samples.length ? [this.trained[step], sample] : [this.own[step], 0];
  }

  row(name, step, sample, layer, head, query) {
    const [numbers, at] = this.holding(step, sample);
    const start = matrixAt(at, layer, head) + query * P;
    return Float64Array.from(numbers[name].subarray(start, start + P));
  }

  scoreRow(...where) {
    return this.row("attention_scores", ...where);
  }

  weightRow(...where) {
    return this.row("attention_weights", ...where);
  }

  results(name, sample, step) {
    const [numbers, at] = this.holding(step, sample);
    return Array.from(numbers[name].subarray(at * facts.logits, (at + 1) * facts.logits));
  }

  // Computes a sample of the reader at each step, and adds it to the samples; returns its index. Throws an error with a
  // sentence if the model cannot take it.
  lookAt(tokens) {
    const weights = new Float32Array(STEPS * this.part(0, "weights").length);
    for (let step = 0; step < STEPS; step++) weights.set(this.part(step, "weights"), step * this.part(0, "weights").length);
    const { row, judged, floats } = this.lab.ask({ operation: "watch", config: this.config, tokens: [tokens] }, weights);
    this.own = rowsOf(row, range(STEPS).map((step) => [floats, step]));
    const [label, marked] = judged?.[0] ?? [null, []];
    facts.samples = [...this.samples, { number: OWN, label, tokens, marked }];
    for (const token of tokens) facts.token_strings[token] ??= String(token);
    this.renew();
    return this.samples.length;
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

// Named parts of rows that lie one after the other: each place is an array of numbers and the index of a row in it.
function rowsOf(row, places) {
  const size = row.reduce((sum, [, length]) => sum + length, 0);
  return places.map(([floats, index]) => {
    let at = index * size;
    return Object.fromEntries(row.map(([name, length]) => [name, floats.subarray(at, at += length)]));
  });
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
  let begun;
  const stop = make("button", { type: "button", onclick: () => { worker.terminate(); settle("recorded", "Recorded: the training of this page was stopped."); } }, "Stop");
  const told = make("span", {}, "Recorded. The page trains the run again.");
  byId("origin").replaceChildren(told, " ", stop);
  const worker = trainInWorker({ module, config, steps, tokens }, async (heard) => {
    if (heard.begun) ({ begun } = heard);
    if (heard.part) {
      parts.push(heard.part);
      setText(told, `Recorded. The page trains the run again: step ${heard.part.step} of ${steps}.`);
    }
    if (heard.failed) settle("recorded", `Recorded: the page could not train the run again (${heard.failed}).`);
    if (heard.ended) {
      const { weights_sha256: found } = heard.ended;
      if (found !== expected) return settle("differs", `Differs: the page trained the run again and got other weights. SHA-256 of model.safetensors: ${expected}; here: ${found}. The page shows what was recorded.`);
      showLive(new Lab(await WebAssembly.instantiate(module)), config, begun, parts);
      const at = STEPS === steps + 1 ? "at each step" : `at ${STEPS} of its ${steps + 1} steps`;
      settle("live", `Live: the page has trained this run again, and its weights are the same bytes as model.safetensors (SHA-256 ${found.slice(0, 12)}…). It computes all numbers below itself, ${at}.`);
    }
  });
}

// Replaces recorded numbers by computed ones.
function showLive(lab, config, { row, question }, parts) {
  const steps = parts.flatMap((part) => part.kept);
  const losses = parts.flatMap((part) => Array.from(part.floats.subarray(0, part.losses)));
  const live = new Live(lab, config, row, parts);
  runs[0] = {
    facts: {
      ...facts, steps,
      loss: losses.map((loss, index) => ({ step: index + 1, loss })),
      loss_over: "the samples of each batch",
      notes: ["The page trained the run itself, and computed all numbers."],
    },
    source: live,
  };
  enter(0);
  setText(byId("question"), question ? `Can a tiny transformer learn the answer? ${question}` : "");
  byId("own").hidden = false;
  renew();
  readAddress();
  show();
}

// After other numbers took the place of those that sections have seen.
function renew() {
  for (const section of sections) section.renew?.();
}

sections.push({
  start() {
    byId("own").addEventListener("submit", (event) => {
      event.preventDefault();
      const sample = ownSample(byId("own-tokens").value);
      if (sample !== null) change({ sample }, true);
    });
  },
  show() {
    const { tokens } = typeof view.sample === "number" ? facts.samples[view.sample] : { tokens: null };
    // The shown sample is there to be changed.
    if (tokens && document.activeElement !== byId("own-tokens")) byId("own-tokens").value = tokens.filter((_, position) => position !== facts.cls).join(" ");
  },
});

// Computes the reader's sample; returns its index, or says why it cannot be and returns null.
function ownSample(text) {
  const said = byId("own-said");
  const words = text.split(/[\s,;]+/).filter((word) => word !== "" && word !== "[CLS]");
  const wrong = words.find((word) => !/^\d{1,9}$/.test(word));
  try {
    if (wrong !== undefined) throw new Error(`“${shorten(wrong, 20)}” is no token; tokens are whole numbers`);
    const tokens = words.map(Number);
    tokens.splice(facts.cls, 0, 0);
    if (tokens.indexOf(0, facts.cls + 1) >= 0 || tokens.indexOf(0) < facts.cls) throw new Error("0 is [CLS], which the page adds itself");
    const sample = source.lookAt(tokens);
    renew();
    setText(said, "");
    return sample;
  } catch (error) {
    setText(said, `${error.message}.`);
    return null;
  }
}

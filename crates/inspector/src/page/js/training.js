// The page trains its run again, compares the weights, and then shows what it computed: each step, not only the
// recorded ones. Until then, and where it cannot, it shows what was recorded.

// Above this number of multiplications, a training could take more than some seconds: the reader starts it.
const MOST_OPERATIONS = 2e9;

// Says once how the page's numbers came about, for readers and for scripts.
function settle(state, text) {
  Object.assign(document.documentElement.dataset, { run: state, settled: performance.now().toFixed(1) });
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
    if (!heard.ended) return;
    const { weights_sha256: found } = heard.ended;
    try {
      if (found !== expected) return settle("differs", `Differs: the page trained the run again and got other weights. SHA-256 of model.safetensors: ${expected}; here: ${found}. The page shows what was recorded.`);
      showLive(new Lab(await WebAssembly.instantiate(module)), config, begun, parts);
      const at = STEPS === steps + 1 ? "at each step" : `at ${STEPS} of its ${steps + 1} steps`;
      settle("live", `Live: the page has trained this run again, and its weights are the same bytes as model.safetensors (SHA-256 ${found.slice(0, 12)}…). It computes all numbers below itself, ${at}.`);
    } catch (error) {
      settle("recorded", `Recorded: the page trained the run again, but cannot show it (${error.message}).`);
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

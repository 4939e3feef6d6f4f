// The chosen query, stage by stage, to the decision: numbers of the source, and numbers computed from them.

sections.push({ show: showChain });

function showChain() {
  const stages = [bars()];
  if (isStatistic(view.run)) stages.push(make("p", { class: "hint" }, `The ${runName(view.run)} has no vectors of its own: choose a run to follow its numbers to the decision.`));
  else stages.push(...stagesOfSample());
  setText(byId("chain-title"), `From query ${view.query} to the decision`);
  byId("stages").replaceChildren(...stages);
}

function stagesOfSample() {
  const stages = [];
  if (isWhatIf()) stages.push(make("p", { class: "failed" }, `The numbers below are ${origin()} without the what-if, which does not change them.`));
  if (typeof view.sample === "number") {
    const vectors = source.vectors(view.step);
    if (vectors) stages.push(productsStage(vectors));
    else stages.push(missing());
    stages.push(softmaxStage(vectors));
    if (vectors) stages.push(contextStage(vectors), residualStage(vectors));
    stages.push(decisionStage());
  } else {
    stages.push(make("p", { class: "hint" }, "A mean has no vectors of its own: choose a sample to follow its numbers to the decision."));
  }
  return stages;
}

function bars() {
  const cells = ofRun(view.run, () => matrix(view.sample, view.step, "weights")).slice(view.query * P, view.query * P + P);
  const rows = range(P).map((key) => {
    const bar = make("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = `${100 * cells[key]}%`;
    return make("li", { class: marked(key) ? "marked" : null }, make("span", { class: "name" }, isolate(rowName(key))), make("span", { class: "track" }, bar), make("span", { class: "value" }, fixed(cells[key])));
  });
  return make("figure", { id: "row", class: "stage" }, make("figcaption", {}, make("h3", {}, "Attention of the query"), make("p", {}, `Weights of query ${view.query}: ${tokenAt(view.query)} on each key${isStatistic(view.run) ? `, ${runName(view.run)}` : ""}${isWhatIf() ? " (what if)" : ""}.`)),
    make("ul", { class: "bars" }, ...rows));
}

function missing() {
  const names = facts.vector_arrays.map(([name]) => name);
  const buttons = facts.vectors.map((step) => make("button", { type: "button", onclick: () => change({ step }, true) }, `Go to step ${stepName(step)}`));
  return make("div", { class: "stage note" }, make("p", {}, `This page has vectors (${names.join(", ")}) for steps ${facts.vectors.map(stepName).join(" and ")} only.`), ...buttons);
}

// The vector of a position, of one head.
function vector(values, position) {
  const start = (((view.sample * facts.layers + view.layer) * facts.heads + view.head) * P + position) * facts.d_head;
  return Array.from(values.subarray(start, start + facts.d_head));
}

const product = (one, other) => one.reduce((sum, value, index) => sum + value * other[index], 0);

function productsStage(vectors) {
  const rows = [[`query ${view.query}: ${tokenAt(view.query)}`, ...vector(vectors.query, view.query)]];
  for (const key of range(P)) rows.push([`key ${rowName(key)}`, ...vector(vectors.key, key)]);
  return table("vectors", "Query and keys", `Vectors of the query and of each key, head ${view.head}, ${origin()}.`, ["", ...range(facts.d_head).map(String)], rows);
}

function softmaxStage(vectors) {
  const where = [view.step, view.sample, view.layer, view.head, view.query];
  const [scores, weights] = [scoreRow(...where), weightRow(...where)];
  const again = softmax(scores, (key) => allows(view.sample, view.query, key), 1);
  const query = vectors && vector(vectors.query, view.query);
  const rows = range(P).map((key) => {
    const dot = vectors && product(query, vector(vectors.key, key));
    return [rowName(key), ...(vectors ? [dot, dot * facts.factor] : []), scores[key], allows(view.sample, view.query, key) ? "yes" : "no", again[key], weights[key]];
  });
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  rows.push(["sum", ...(vectors ? ["", ""] : []), "", "", sum(again), sum(weights)]);
  const columns = ["key", ...(vectors ? ["query · key", `× ${facts.factor_text}`] : []), `score, ${origin()}`, "allowed", "softmax of the score", `weight, ${origin()}`];
  const mask = facts.masked ? "Keys that the mask forbids have weight 0." : "This model has no mask.";
  return table("softmax", "Scores and softmax", `${vectors ? `Products of the query with each key, times ${facts.factor_text}, are the scores. ` : ""}${mask}`, columns, rows);
}

function contextStage(vectors) {
  const weights = weightRow(view.step, view.sample, view.layer, view.head, view.query);
  const shares = range(P).map((key) => vector(vectors.value, key).map((value) => value * weights[key]));
  const rows = shares.map((share, key) => [rowName(key), weights[key], ...share]);
  rows.push(["sum", "", ...range(facts.d_head).map((at) => shares.reduce((sum, share) => sum + share[at], 0))]);
  rows.push([`context, ${origin()}`, "", ...vector(vectors.context, view.query)]);
  return table("context", "Weights times values", `Each key's value vector times its weight; their sum is the context.${source.isLive ? "" : " The sum uses weights of four decimals, so its last digit may differ from that of the recorded context."}`, ["key", "weight", ...range(facts.d_head).map(String)], rows);
}

function residualStage(vectors) {
  const width = facts.d_model;
  const at = ((view.sample * facts.layers + view.layer) * P + view.query) * width;
  const residual = Array.from(vectors.residual.subarray(at, at + width));
  const rows = [];
  if (view.layer === 0) {
    const start = (view.sample * P + view.query) * width;
    const input = Array.from(vectors.embeddings.subarray(start, start + width));
    rows.push([`input (embedding), ${origin()}`, ...input]);
    rows.push(["output of attention: residual minus input", ...residual.map((value, index) => value - input[index])]);
  }
  rows.push([`residual, ${origin()}`, ...residual]);
  const mean = residual.reduce((sum, value) => sum + value, 0) / width;
  const variance = residual.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width;
  rows.push(["scaled to mean 0 and variance 1", ...residual.map((value) => (value - mean) / Math.sqrt(variance + facts.norm_eps))]);
  const input = view.layer === 0 ? "" : " The input of this block is not recorded either, so the output of its attention is unknown.";
  return table("residual", "Output, residual and norm", `The contexts of all heads, projected by W_o, are added to the input. W_o, and the norm's scale and shift, are not recorded in dumps: the last row is the norm without scale and shift.${input}`, ["", ...range(width).map(String)], rows);
}

function decisionStage() {
  const { label } = facts.samples[view.sample];
  const values = logits(view.sample, view.step);
  const recorded = probabilities(view.sample, view.step);
  const chosen = className(predicted(view.sample, view.step));
  const after = [];
  if (view.layer < facts.layers - 1) after.push("later blocks");
  if (facts.has_feed_forward) after.push("the feed-forward layer");
  after.push("the classifier's weights");
  const exps = values.map((value) => Math.exp(value - Math.max(...values)));
  const sum = exps.reduce((sum, value) => sum + value, 0);
  const spread = (first) => [first, ...values.slice(1).map(() => "")];
  const rows = [
    [`${CLASSES > 2 ? "logits" : "logit"}, ${origin()}`, ...values],
    CLASSES > 2 ? ["softmax of the logits", ...exps.map((value) => value / sum)] : ["sigmoid of the logit", 1 / (1 + Math.exp(-values[0]))],
    [`${CLASSES > 2 ? "probabilities" : "probability"}, ${origin()}`, ...recorded],
    [CLASSES > 2 ? "decision: the class of the highest logit" : `decision: ${className(1)} if the logit is above 0`, ...spread(chosen)],
    ["label", ...spread(className(label))],
    ["outcome", ...spread(OUTCOMES[outcome(view.sample, view.step)] || "unknown")],
  ];
  const columns = CLASSES > 2 ? range(CLASSES).map(className) : ["value"];
  return table("decision", "Decision", `The classifier reads [CLS] (position ${facts.cls}) after the last block. Not in this page: ${after.join(", ")}.`, ["", ...columns], rows);
}

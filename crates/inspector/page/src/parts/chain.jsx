// The chosen query, stage by stage, to the decision: the engine's numbers, and what the page computes from them.

import { fixed, percent, range, softmax } from "../numbers.js";
import { placeOf } from "../reader.js";
import { change } from "../view.js";
import { calm } from "./calm.js";
import { chancesOf } from "./computation.js";
import { NumberTable } from "./dom.jsx";
import { weightsOf } from "./sentence.js";
import { Check } from "./steps.jsx";
import { followed, way } from "./shown-computation.js";

/** @typedef {import("./computation.js").Computation} Computation */
/** @typedef {import("../run.js").Run} Run */
/** @typedef {import("../types").Sample} Sample */
/** @typedef {{ run: Run, sample: Sample, at: number, c: Computation, source: string }} Stage a computation, and what its engine's numbers are called */

// Matrices of more rows are not listed: what they give is.
const MOST_ROWS = 32;
// More bars scroll.
const MOST_BARS = 16;

export function Chain() {
  const now = calm.value;
  if (!now) return null;
  return (
    <section id="chain" aria-labelledby="chain-title">
      <h2 id="chain-title">From query {now.query} to the decision</h2>
      <div id="stages"><Bars now={now} /><Stages now={now} /></div>
    </section>
  );
}

/** @typedef {NonNullable<typeof calm.value>} Now */

/** @param {{ now: Now }} props */
function Bars({ now }) {
  const { run, sample, query } = now;
  const weights = weightsOf(now);
  const which = `${run.sampleName(sample)}, step ${run.stepName(now.at)}, layer ${now.layer}, head ${now.head}`;
  return (
    <figure id="row" class="stage">
      <figcaption>
        <h3>Attention of the query</h3>
        <p>Weights of query {query} (<bdi>{run.tokenAt(sample, query)}</bdi>) on each key: {which}{run.isStatistic ? `, ${run.name}` : ""}{now.isWhatIf ? " (what if)" : ""}.</p>
      </figcaption>
      <ul class="bars" tabIndex={run.length(sample) > MOST_BARS ? 0 : undefined} aria-label="Weights of the query">
        {range(run.length(sample)).map((key) => (
          <li key={key} class={run.marked(sample, key) ? "marked" : ""}>
            <span class="name"><bdi>{run.rowName(sample, key)}</bdi></span>
            <span class="track" aria-hidden="true"><span class="bar" style={{ width: percent(weights[key]) }} /></span>
            <span class="value">{fixed(weights[key])}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}

/** @param {{ now: Now }} props */
function Stages({ now }) {
  const run = followed.value;
  if (!run) return null;
  if (run.isStatistic) return <p class="hint">The {run.name} has no vectors of its own: choose a run to follow its numbers to the decision.</p>;
  if (!now.one) return <p class="hint">A mean has no vectors of its own: choose a sample to follow its numbers to the decision.</p>;
  const [c, source, sample] = [way.value, run.isLive ? "engine" : "recorded", now.one];
  if (!c) {
    return <><NoVectors run={run} isWhatIf={now.isWhatIf} /><Softmax run={run} now={now} source={source} c={null} /><Decision run={run} sample={sample} at={now.at} source={source} c={null} layer={now.layer} /></>;
  }
  const stage = { run, sample, at: now.at, c, source };
  return (
    <>
      {now.isWhatIf && !run.isLive && <p class="failed">The numbers below are as recorded: the what-if does not change them.</p>}
      {c.hasWeights && <p class="hint">The page computes each stage again, in JavaScript, from the engine's numbers before it, and says how far its result is from the engine's.</p>}
      {c.hasWeights && <Input {...stage} />}
      <Vectors {...stage} />
      <Softmax run={run} now={now} source={source} c={c} />
      <Context {...stage} />
      {c.hasWeights ? <><Output {...stage} /><Norm {...stage} /><FeedForward {...stage} /><Later {...stage} /><Classifier {...stage} /></> : <Residual {...stage} />}
      <Decision {...stage} layer={c.layer} />
    </>
  );
}

/** Says at which steps a recording has vectors. @param {{ run: Run, isWhatIf?: boolean }} props */
export function NoVectors({ run, isWhatIf }) {
  const { vectors, vector_arrays: arrays } = run.facts;
  return (
    <div class="stage note">
      {isWhatIf && <p class="failed">The numbers below are as recorded: the what-if does not change them.</p>}
      <p>{vectors.length ? `This page has vectors (${arrays.map(([name]) => name).join(", ")}) for step${vectors.length > 1 ? "s" : ""} ${vectors.map((at) => run.stepName(at)).join(" and ")} only.` : "This page has no vectors."}</p>
      {vectors.map((at) => <button key={at} type="button" onClick={() => change({ step: run.times[at] })}>Go to step {run.stepName(at)}</button>)}
    </div>
  );
}

const names = (/** @type {number} */ count) => range(count).map(String);

/** @param {Stage} props */
function Input({ run, sample, c }) {
  const input = c.input();
  if (!input) return null;
  const { query, layer } = c;
  if (layer > 0) {
    return <NumberTable id="input" title={`Input of layer ${layer}`} text={<>The output of layer {layer - 1} at position {query}. {c.isChanged("input") && "A change of yours takes effect here."}</>} columns={["", ...names(input.length)]} rows={[[`output of layer ${layer - 1}, engine`, ...input]]} />;
  }
  const embedding = c.embedding();
  if (!embedding) return null;
  const rows = [[`token ${run.tokenText(sample, query)}`, ...embedding.token], ...(embedding.place ? [[`position ${query}`, ...embedding.place], ["sum", ...embedding.sum]] : []), ["input, engine", ...input]];
  const text = embedding.place ? "The vector of the token and that of the position add up to the input." : "The vector of the token is the input: this model has no vectors of positions.";
  return <NumberTable id="input" title="Token and position" text={<>{text} <Check of={[[embedding.sum, input]]} isChanged={c.isChanged("input")} /></>} columns={["", ...names(input.length)]} rows={rows} />;
}

/** @param {Stage} props */
function Vectors({ run, sample, c }) {
  const { query, positions, head } = c;
  const rows = /** @type {const} */ (["key", "value"]).flatMap((kind) => positions.map((position) => [`${kind} ${run.rowName(sample.key, position)}`, ...c.ofHead(kind, position)]));
  const all = /** @type {const} */ (["query", "key", "value"]).flatMap((kind) => (kind === "query" ? [query] : positions).map((position) => [kind, position]));
  const checks = c.hasWeights ? all.map(([kind, position]) => /** @type {[number[], number[]]} */ ([c.projected(/** @type {any} */ (kind), Number(position)) ?? [NaN], c.ofHead(/** @type {any} */ (kind), Number(position))])) : [];
  const text = c.hasWeights
    ? <>{c.projection("query") ? "The inputs of the positions times the head's columns of W_q, W_k and W_v, plus the biases." : `The inputs of the positions: this model has no projections, and head ${head} takes its part of them.`} <Check of={checks} /></>
    : `Vectors of the query, and of each key and value, head ${head}, recorded.`;
  return <NumberTable id="vectors" title="Query, keys and values" text={text} columns={["", ...names(run.facts.d_head)]} rows={[[`query ${query}: ${run.tokenText(sample, query)}`, ...c.ofHead("query", query)], ...rows]} />;
}

/** @param {{ run: Run, now: Now, source: string, c: Computation | null }} props */
function Softmax({ run, now, source, c }) {
  const sample = /** @type {Sample} */ (now.one);
  const { at, layer, head, query } = now;
  const scores = Array.from(run.source.row("scores", at, sample, layer, head, query));
  const weights = Array.from(run.source.row("weights", at, sample, layer, head, query));
  const keys = range(run.positions);
  const may = (/** @type {number} */ key) => c ? c.allows(key) : run.allows(sample, query, key);
  const again = c ? c.shares() : Array.from(softmax(Float64Array.from(scores), may, 1));
  const products = c?.products();
  const factor = c && c.factor !== run.facts.factor ? fixed(c.factor) : run.facts.factor_text;
  const total = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0);
  const rows = [
    ...keys.map((key) => [run.rowName(sample.key, key), ...(products && c ? [products[key], products[key] * c.factor] : []), scores[key], may(key) ? "yes" : "no", again[key], weights[key]]),
    ["sum", ...(products ? ["", ""] : []), "", "", total(again), total(weights)],
  ];
  const mask = keys.every(may) ? "This query may look at each key." : "Keys that the query may not look at have weight 0.";
  const allowed = keys.filter(may);
  const of = /** @type {[number[], number[]][]} */ (c && products ? [[allowed.map((key) => products[key] * c.factor), allowed.map((key) => scores[key])], [again, weights]] : []);
  const text = <>{products && `Products of the query with each key, times ${factor}, are the scores. `}{mask} {c?.hasWeights && <Check of={of} isChanged={c.isChanged("softmax")} />}</>;
  return <NumberTable id="softmax" title="Scores and softmax" text={text} columns={["key", ...(products ? ["query · key", `× ${factor}`] : []), `score, ${source}`, "allowed", "softmax of the score", `weight, ${source}`]} rows={rows} />;
}

/** @param {Stage} props */
function Context({ run, sample, c, source }) {
  const weights = c.weights();
  const shares = c.positions.map((key) => c.ofHead("value", key).map((value) => value * weights[key]));
  const context = c.ofHead("context", c.query);
  const computed = c.context();
  const rows = [...shares.map((share, key) => [run.rowName(sample.key, key), weights[key], ...share]), ["sum", "", ...computed], [`context, ${source}`, "", ...context]];
  const text = c.hasWeights
    ? <>Each key's value vector times its weight; their sum is the context. <Check of={[[computed, context]]} isChanged={c.isChanged("context")} /></>
    : "Each key's value vector times its weight; their sum is the context. The sum uses weights of four decimals, so its last digit may differ from that of the recorded context.";
  return <NumberTable id="context" title="Weights times values" text={text} columns={["key", "weight", ...names(run.facts.d_head)]} rows={rows} />;
}

/** What a recording has of the block's output. @param {Stage} props */
function Residual({ run, c }) {
  const residual = c.ofPosition("residual");
  const norm = c.norm();
  if (!residual || !norm) return null;
  const [input, output] = [c.input(), c.ofPosition("output")];
  const rows = [
    ...(input ? [[c.layer ? `output of layer ${c.layer - 1}, recorded` : "input (embedding), recorded", ...input], ["output of attention: residual minus input", ...residual.map((value, at) => value - input[at])]] : []),
    ["residual, recorded", ...residual],
    ["scaled to mean 0 and variance 1", ...norm.even],
    ...(output ? [["output of the block, recorded", ...output]] : []),
  ];
  const text = `The contexts of all heads, projected by W_o, are added to the input. W_o, and the norm's scale and shift, are not recorded in dumps: the row of variance 1 is the norm without scale and shift.${input ? "" : " The input of this block is not recorded either, so the output of its attention is unknown."}`;
  return <NumberTable id="residual" title="Output, residual and norm" text={text} columns={["", ...names(run.facts.d_model)]} rows={rows} />;
}

/** @param {Stage} props */
function Output({ run, c }) {
  const [found, residual] = [c.residual(), c.ofPosition("residual")];
  if (!found || !residual) return null;
  const { projection, output, input } = found;
  const contexts = c.contexts();
  const { d_head, d_model } = run.facts;
  const isListed = contexts.length <= MOST_ROWS;
  const rows = [
    ...(isListed ? contexts.map((value, at) => [`head ${Math.floor(at / d_head)}, ${at % d_head}`, value, ...projection.rows[at]]) : []),
    ["bias", "", ...projection.bias], ["output: contexts · W_o + bias", "", ...output], ["input", "", ...input], ["residual: input + output", "", ...found.sum], ["residual, engine", "", ...residual],
  ];
  const listed = isListed ? "Each of the first rows is one number of a context, and the row of W_o that it multiplies." : `W_o has ${contexts.length} × ${d_model} numbers, which are not listed.`;
  const text = <>The contexts of all heads, one after the other, times W_o, plus its bias, are the output of attention; it is added to the input. {listed} <Check of={[[found.sum, residual]]} isChanged={c.isChanged("residual")} /></>;
  return <NumberTable id="residual" title="Output and residual" text={text} columns={["", "context", ...names(d_model)]} rows={rows} />;
}

/** @param {number} value */
const short = (value) => Number(value.toPrecision(4));

/** @param {Stage} props */
function Norm({ run, c }) {
  const [norm, residual] = [c.norm(), c.ofPosition("residual")];
  if (!norm?.scaled || !residual) return null;
  const output = run.facts.has_feed_forward ? null : c.ofPosition("output");
  const rows = [
    ["residual, engine", ...residual], ["to mean 0 and variance 1", ...norm.even], ["scale (gamma)", ...c.vector(`${c.block}.norm.gamma`) ?? []], ["shift (beta)", ...c.vector(`${c.block}.norm.beta`) ?? []],
    ["times scale, plus shift", ...norm.scaled], ...(output ? [["output of the block, engine", ...output]] : []),
  ];
  const text = <>The residual has the mean {short(norm.mean)} and the variance {short(norm.variance)}. Less its mean, divided by √(variance + {run.facts.norm_eps}), times the scale, plus the shift, it is {output ? "the output of the block" : "the input of the feed-forward layer"}. {output && <Check of={[[norm.scaled, output]]} isChanged={c.isChanged("output")} />}</>;
  return <NumberTable id="norm" title="Norm" text={text} columns={["", ...names(residual.length)]} rows={rows} />;
}

/** @param {Stage} props */
function FeedForward({ c }) {
  const found = c.feedForward();
  const [hidden, residual, output] = [c.ofPosition("feed_forward_hidden"), c.ofPosition("feed_forward_residual"), c.ofPosition("output")];
  if (!found || !hidden || !residual || !output || !found.norm.scaled) return null;
  return (
    <>
      <NumberTable id="hidden" title="Feed-forward layer: hidden numbers" text={<>The norm times W_1, plus its bias; what is below 0 becomes 0. {hidden.filter((value) => value > 0).length} of {hidden.length} are above 0. <Check of={[[found.hidden, hidden]]} /></>}
        columns={["", ...names(hidden.length)]} rows={[["hidden, computed", ...found.hidden], ["hidden, engine", ...hidden]]} />
      <NumberTable id="feed-forward" title="Feed-forward layer: output, residual and norm" text={<>The hidden numbers times W_2, plus its bias, are added to the layer's input; a second norm gives the output of the block. <Check of={[[found.residual, residual], [found.norm.scaled, output]]} isChanged={c.isChanged("output")} /></>}
        columns={["", ...names(output.length)]} rows={[["input: the norm above", ...found.input], ["output: hidden · W_2 + bias", ...found.output], ["residual: input + output", ...found.residual], ["residual, engine", ...residual], ["norm of the residual", ...found.norm.scaled], ["output of the block, engine", ...output]]} />
    </>
  );
}

/** What the blocks after the shown one make of the position that the class is read from. @param {Stage} props */
function Later({ run, c }) {
  const { facts } = run;
  const later = range(facts.layers).slice(c.layer + 1);
  if (!later.length) return null;
  const rows = later.flatMap((layer) => [
    [`input of layer ${layer}`, ...c.input(facts.cls, layer) ?? []], [`residual of layer ${layer}`, ...c.ofPosition("residual", facts.cls, layer) ?? []], [`output of layer ${layer}`, ...c.ofPosition("output", facts.cls, layer) ?? []],
  ]);
  return <NumberTable id="later" title={later.length > 1 ? "Later layers" : `Layer ${later[0]}`} text={`Each later layer does the same with the outputs of the one before. These are the engine's vectors at ${placeOf(facts)}; choose another layer above to follow it.`} columns={["", ...names(facts.d_model)]} rows={rows} />;
}

/** @param {Stage} props */
function Classifier({ run, c }) {
  const found = c.classified();
  if (!found) return null;
  const { classifier, read, logits } = found;
  const { cls } = run.facts;
  const rows = [[`output at ${run.reader}`, ...read, "", ""], ...logits.flatMap((logit, at) => {
    const weights = classifier.rows.map((row) => row[at]);
    const of = logits.length > 1 ? ` of ${run.className(at)}` : "";
    return [[`weights${of}`, ...weights, classifier.bias[at], ""], [`output × weights${of}`, ...weights.map((weight, index) => weight * read[index]), "", logit]];
  })];
  const reads = c.query === cls ? "" : c.isLast ? `It does not read this query, position ${c.query}, which comes too late to be looked at.` : `Position ${c.query} counts only as far as later layers look at it.`;
  const text = <>The classifier reads {placeOf(run.facts)} after the last layer: each number times its weight, added up, plus the bias, is the logit. {reads} <Check of={[[logits, c.way.logits]]} /></>;
  return <NumberTable id="classifier" title="Classifier" text={text} columns={["", ...names(read.length), "bias", logits.length > 1 ? "logits" : "logit"]} rows={rows} />;
}

/** @param {Omit<Stage, "c"> & { c: Computation | null, layer: number }} props */
function Decision({ run, sample, at, source, c, layer }) {
  const { label } = sample;
  const logits = run.source.results("logits", at, sample);
  const probabilities = run.source.results("probabilities", at, sample);
  const several = run.classCount > 2;
  const chances = chancesOf(logits);
  const spread = (/** @type {string} */ first) => [first, ...logits.slice(1).map(() => "")];
  const rows = [
    [`${several ? "logits" : "logit"}, ${source}`, ...logits],
    [several ? "softmax of the logits" : "sigmoid of the logit", ...chances],
    [`${several ? "probabilities" : "probability"}, ${source}`, ...probabilities],
    [several ? "decision: the class of the highest logit" : `decision: ${run.className(1)} if the logit is above 0`, ...spread(run.className(run.predicted(sample, at)))],
    ["label", ...spread(run.className(label))],
    ["outcome", ...spread(run.outcomes[run.outcome(sample, at)] ?? "unknown")],
  ];
  const { facts } = run;
  const after = [layer < facts.layers - 1 ? "later layers" : "", facts.has_feed_forward ? "the feed-forward layer" : "", "the classifier's weights"].filter(Boolean);
  const text = c?.hasWeights
    ? <>{several ? "The softmax of the logits gives the probabilities." : "The sigmoid of the logit, 1 / (1 + exp(−logit)), gives the probability."} <Check of={[[chances, probabilities]]} /></>
    : `The classifier reads ${placeOf(facts)} after the last layer. Not in this page: ${after.join(", ")}.`;
  return <NumberTable id="decision" title="Decision" text={text} columns={["", ...(several ? range(run.classCount).map((at) => run.className(at)) : ["value"])]} rows={rows} />;
}

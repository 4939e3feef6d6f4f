// The chosen query, stage by stage, to the decision: the engine's numbers, and what the page computes from them.

import { fixed, percent, range, softmax } from "../numbers.js";
import { change } from "../view.js";
import { calm } from "./calm.js";
import { chancesOf } from "./computation.js";
import { ACTIVATIONS } from "./functions.js";
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
  const most = run.isShare ? 1 : Math.max(...Array.from(weights, Math.abs), 1e-12);
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
            <span class="track" aria-hidden="true"><span class="bar" style={{ width: percent(Math.abs(weights[key]) / most) }} /></span>
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
      {c.hasWeights && <Norm {...stage} norm={c.firstNorm()} />}
      <Vectors {...stage} />
      <Softmax run={run} now={now} source={source} c={c} />
      <Context {...stage} />
      {c.hasWeights ? <><Output {...stage} /><Norm {...stage} norm={c.norm()} isAfter /><FeedForward {...stage} /><Later {...stage} /><Classifier {...stage} /></> : <Residual {...stage} />}
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
  const rows = [
    [`token ${run.tokenText(sample, query)}`, ...embedding.token], ...(embedding.place ? [[`position ${query}`, ...embedding.place], ["sum", ...embedding.sum]] : []),
    ...(embedding.norm ? [["norm", ...embedding.input]] : []), ["input, engine", ...input],
  ];
  const text = <>{INPUTS[c.parts.positions]}{embedding.norm ? `, once ${normWords(c)}` : ""}. <Check of={[[embedding.input, input]]} isChanged={c.isChanged("input")} /></>;
  return <NumberTable id="input" title="Token and position" text={text} columns={["", ...names(input.length)]} rows={rows} />;
}

/** What a block's first input is, by how the model knows positions. */
const INPUTS = {
  learned: "The vector of the token and that of the position add up to the input", none: "The vector of the token is the input: this model has no vectors of positions",
  sinusoidal: "The vector of the token and the sines and cosines of its position add up to the input", rotary: "The vector of the token is the input: positions rotate queries and keys instead",
  first: "The vector of the token is the input; at position 1, its first number is larger by 1",
};

/** What a norm does. @param {Computation} c */
const normWords = (c) => c.parts.isRms ? "divided by the root of its mean square" : "brought to mean 0 and variance 1, with the norm's scale and shift";

/** @param {Stage} props */
function Vectors({ run, sample, c }) {
  const { query, positions, head } = c;
  const rows = /** @type {const} */ (["key", "value"]).flatMap((kind) => positions.map((position) => [`${kind} ${run.rowName(sample.key, position)}`, ...c.ofHead(kind, position)]));
  const all = /** @type {const} */ (["query", "key", "value"]).flatMap((kind) => (kind === "query" ? [query] : positions).map((position) => [kind, position]));
  const checks = c.hasWeights ? all.map(([kind, position]) => /** @type {[number[], number[]]} */ ([c.projected(/** @type {any} */ (kind), Number(position)) ?? [NaN], c.ofHead(/** @type {any} */ (kind), Number(position))])) : [];
  const text = c.hasWeights
    ? <>{projectedWords(c)} <Check of={checks} /></>
    : `Vectors of the query, and of each key and value, head ${head}, recorded.`;
  return <NumberTable id="vectors" title="Query, keys and values" text={text} columns={["", ...names(run.facts.d_head)]} rows={[[`query ${query}: ${run.tokenText(sample, query)}`, ...c.ofHead("query", query)], ...rows]} />;
}

/** How queries, keys and values are made. @param {Computation} c */
function projectedWords(c) {
  const source = c.parts.norm === "pre" ? "The norms of the inputs" : "The inputs";
  const [query, value] = [c.projection("query"), c.projection("value")];
  const how = query ? `${source} of the positions times the head's columns of ${value ? "W_q, W_k and W_v" : "W_q and W_k"}${query.hasBias ? ", plus the biases" : ""}.` : `${source} of the positions: this model has no projections, and head ${c.head} takes its part of them.`;
  const values = query && !value ? ` Values are not projected: head ${c.head} takes its part.` : "";
  return `${how}${values}${c.parts.positions === "rotary" ? " Queries and keys are then rotated by their positions." : ""}`;
}

/** @param {{ run: Run, now: Now, source: string, c: Computation | null }} props */
function Softmax({ run, now, source, c }) {
  const sample = /** @type {Sample} */ (now.one);
  const { at, layer, head, query } = now;
  const scores = Array.from(run.source.row("scores", at, sample, layer, head, query));
  const weights = Array.from(run.source.row("weights", at, sample, layer, head, query));
  const keys = range(run.positions);
  const may = (/** @type {number} */ key) => c ? c.allows(key) : run.allows(sample, query, key);
  const { rate = 1, softmax: hasSoftmax = true, log_length: isLong = false } = run.model.attention ?? {};
  const again = c ? c.shares() : Array.from(softmax(Float64Array.from(scores), may, 1));
  const mixed = again.map((share, key) => may(key) ? hasSoftmax ? rate * share + 1 - rate : scores[key] : 0);
  const products = c?.products();
  const scale = c?.scaleOf() ?? NaN;
  const factor = `${c && c.factor !== run.facts.factor ? fixed(c.factor) : run.facts.factor_text}${isLong ? ` × ln ${keys.filter(may).length}` : ""}`;
  const total = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0);
  const rows = [
    ...keys.map((key) => [run.rowName(sample.key, key), ...(products && c ? [products[key], products[key] * scale] : []), scores[key], may(key) ? "yes" : "no", ...(hasSoftmax ? [again[key]] : []), ...(rate < 1 ? [mixed[key]] : []), weights[key]]),
    ["sum", ...(products ? ["", ""] : []), "", "", ...(hasSoftmax ? [total(again)] : []), ...(rate < 1 ? [total(mixed)] : []), total(weights)],
  ];
  const mask = keys.every(may) ? "This query may look at each key." : "Keys that the query may not look at have weight 0.";
  const allowed = keys.filter(may);
  const of = /** @type {[number[], number[]][]} */ (c && products ? [[allowed.map((key) => products[key] * scale), allowed.map((key) => scores[key])], [mixed, weights]] : []);
  const text = <>{products && `Products of the query with each key, times ${factor}, are the scores. `}{mask} {mixWords(rate, hasSoftmax)}{c?.hasWeights && <Check of={of} isChanged={c.isChanged("softmax")} />}</>;
  return <NumberTable id="softmax" title={hasSoftmax ? "Scores and softmax" : "Scores and weights"} text={text} columns={["key", ...(products ? ["query · key", `× ${factor}`] : []), `score, ${source}`, "allowed", ...(hasSoftmax ? ["softmax of the score"] : []), ...(rate < 1 ? [`× ${rate} + ${fixed(1 - rate, 2)}`] : []), `weight, ${source}`]} rows={rows} />;
}

/** What weights are, if they are not the softmax. @param {number} rate @param {boolean} hasSoftmax */
function mixWords(rate, hasSoftmax) {
  if (!hasSoftmax) return "This model has no softmax: a weight is its score. ";
  return rate < 1 ? `A weight is ${rate} times the softmax, plus ${fixed(1 - rate, 2)} for each allowed key. ` : "";
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
  if (!residual) return null;
  const [input, output] = [c.input(), c.ofPosition("output")];
  const isProjected = run.model.attention?.output_projection !== false;
  const rows = [
    ...(input ? [[c.layer ? `output of layer ${c.layer - 1}, recorded` : "input (embedding), recorded", ...input], ["output of attention: residual minus input", ...residual.map((value, at) => value - input[at])]] : []),
    ["residual, recorded", ...residual],
    ...(norm ? [[c.parts.isRms ? "scaled to mean square 1" : "scaled to mean 0 and variance 1", ...norm.even]] : []),
    ...(output ? [["output of the block, recorded", ...output]] : []),
  ];
  const isLearned = c.parts.hasGain || c.parts.hasShift;
  const missing = norm && isLearned ? `${isProjected ? "W_o, and the" : "The"} norm's scale and shift, are not recorded in dumps: the row of ${c.parts.isRms ? "mean square" : "variance"} 1 is the norm without scale and shift.` : isProjected ? "W_o is not recorded in dumps." : "";
  const text = `The contexts of all heads${isProjected ? ", projected by W_o," : ""} are added to the input. ${missing}${input ? "" : " The input of this block is not recorded either, so the output of its attention is unknown."}`;
  return <NumberTable id="residual" title={norm ? "Output, residual and norm" : "Output and residual"} text={text} columns={["", ...names(run.facts.d_model)]} rows={rows} />;
}

/** @param {Stage} props */
function Output({ run, c }) {
  const [found, residual] = [c.residual(), c.ofPosition("residual")];
  if (!found || !residual) return null;
  const { projection, output, input } = found;
  const contexts = c.contexts();
  const { d_head, d_model } = run.facts;
  const isListed = projection && contexts.length <= MOST_ROWS;
  const { hasBias = false } = projection ?? {};
  const rows = [
    ...(isListed ? contexts.map((value, at) => [`head ${Math.floor(at / d_head)}, ${at % d_head}`, value, ...projection.rows[at]]) : []),
    ...(hasBias ? [["bias", "", .../** @type {any} */ (projection).bias]] : []), [`output: contexts${projection ? " · W_o" : ""}${hasBias ? " + bias" : ""}`, "", ...output], ["input", "", ...input], ["residual: input + output", "", ...found.sum], ["residual, engine", "", ...residual],
  ];
  const listed = !projection ? "" : isListed ? "Each of the first rows is one number of a context, and the row of W_o that it multiplies. " : `W_o has ${contexts.length} × ${d_model} numbers, which are not listed. `;
  const text = <>The contexts of all heads, one after the other{projection ? `, times W_o${hasBias ? ", plus its bias" : ""}` : ""}, are the output of attention; it is added to the input{c.parts.norm === "pre" ? " as it was before the norm" : ""}. {listed}<Check of={[[found.sum, residual]]} isChanged={c.isChanged("residual")} /></>;
  return <NumberTable id="residual" title="Output and residual" text={text} columns={["", "context", ...names(d_model)]} rows={rows} />;
}

/** @param {number} value */
const short = (value) => Number(value.toPrecision(4));

/** The norm of the input, or of the residual after attention. @param {Stage & { norm: ReturnType<Computation["norm"]>, isAfter?: boolean }} props */
function Norm({ run, c, norm, isAfter = false }) {
  const vector = isAfter ? c.ofPosition("residual") : c.input();
  if (!norm?.scaled || !vector) return null;
  const output = !isAfter || run.facts.has_feed_forward ? null : c.ofPosition("output");
  const { gamma, beta } = norm;
  const { isRms } = c.parts;
  const rows = [
    [isAfter ? "residual, engine" : "input, engine", ...vector], [isRms ? "to mean square 1" : "to mean 0 and variance 1", ...norm.even], ...(gamma ? [["scale (gamma)", ...gamma]] : []), ...(beta ? [["shift (beta)", ...beta]] : []),
    [learnt(norm, "times scale", "plus shift") || "norm", ...norm.scaled], ...(output ? [["output of the block, engine", ...output]] : []),
  ];
  const what = isAfter ? "residual" : "input";
  const learned = learnt(norm, "times the scale", "plus the shift");
  const is = isAfter ? output ? "the output of the block" : "the input of the feed-forward layer" : "what queries, keys and values are made of";
  const how = isRms ? `The ${what} has the mean square ${short(norm.variance)}. Divided by √(mean square + ${run.facts.norm_eps})` : `The ${what} has the mean ${short(norm.mean)} and the variance ${short(norm.variance)}. Less its mean, divided by √(variance + ${run.facts.norm_eps})`;
  const text = <>{how}{learned ? `, ${learned}` : ""}, it is {is}. {output && <Check of={[[norm.scaled, output]]} isChanged={c.isChanged("output")} />}</>;
  return <NumberTable id={isAfter ? "norm" : "first-norm"} title={isAfter ? "Norm" : "Norm before attention"} text={text} columns={["", ...names(vector.length)]} rows={rows} />;
}

/** What a norm has learned, in words. @param {{ gamma?: number[] | null, beta?: number[] | null }} norm @param {string} scale @param {string} shift */
const learnt = ({ gamma, beta }, scale, shift) => [gamma && scale, beta && shift].filter(Boolean).join(", ");

/** @param {Stage} props */
function FeedForward({ c }) {
  const found = c.feedForward();
  const [hidden, residual, output] = [c.ofPosition("feed_forward_hidden"), c.ofPosition("feed_forward_residual"), c.ofPosition("output")];
  if (!found || !hidden || !residual || !output) return null;
  const { activation, norm: place } = c.parts;
  const source = { post: "The norm", pre: "The norm of the residual", none: "The residual" }[place];
  const above = activation === "relu" ? ` ${hidden.filter((value) => value > 0).length} of ${hidden.length} are above 0.` : "";
  const end = found.norm ? "; a second norm gives the output of the block" : ", which gives the output of the block";
  return (
    <>
      <NumberTable id="hidden" title="Feed-forward layer: hidden numbers" text={<>{source} times W_1{found.first.hasBias ? ", plus its bias" : ""}; {ACTIVATIONS[activation].words}.{above} <Check of={[[found.hidden, hidden]]} /></>}
        columns={["", ...names(hidden.length)]} rows={[["hidden, computed", ...found.hidden], ["hidden, engine", ...hidden]]} />
      <NumberTable id="feed-forward" title={`Feed-forward layer: output, residual${found.norm ? " and norm" : ""}`} text={<>The hidden numbers times W_2{found.second.hasBias ? ", plus its bias," : ""} are added to the {place === "post" ? "layer's input" : "residual after attention"}{end}. <Check of={[[found.residual, residual], [found.block, output]]} isChanged={c.isChanged("output")} /></>}
        columns={["", ...names(output.length)]} rows={[[place === "post" ? "input: the norm above" : "residual after attention", ...found.input], ...(found.before ? [["its norm", ...found.before.scaled ?? []]] : []), [`output: hidden · W_2${found.second.hasBias ? " + bias" : ""}`, ...found.output], ["residual: input + output", ...found.residual], ["residual, engine", ...residual], ...(found.norm ? [["norm of the residual", ...found.block]] : []), ["output of the block, engine", ...output]]} />
    </>
  );
}

/** What the blocks after the shown one make of the position that is read. @param {Stage} props */
function Later({ run, c }) {
  const { facts, reader } = run;
  const later = range(facts.layers).slice(c.layer + 1);
  if (!later.length) return null;
  const rows = later.flatMap((layer) => [
    [`input of layer ${layer}`, ...c.input(reader, layer) ?? []], [`residual of layer ${layer}`, ...c.ofPosition("residual", reader, layer) ?? []], [`output of layer ${layer}`, ...c.ofPosition("output", reader, layer) ?? []],
  ]);
  return <NumberTable id="later" title={later.length > 1 ? "Later layers" : `Layer ${later[0]}`} text={`Each later layer does the same with the outputs of the one before. These are the engine's vectors at ${placeText(run)}; choose another layer above to follow it.`} columns={["", ...names(facts.d_model)]} rows={rows} />;
}

/** @param {Stage} props */
function Classifier({ run, c }) {
  const found = c.classified();
  if (!found) return null;
  const { classifier, output, norm, hidden, read, logits } = found;
  const { name, isMean } = readText(run);
  const [own, what] = hidden ? ["hidden", "hidden numbers"] : norm ? ["norm", "norm"] : ["output", "output"];
  const blank = ["", ""];
  const vectors = [[isMean ? "mean of the outputs" : `output at ${run.readerName}`, ...output], ...(norm ? [[isMean ? "mean of their norms" : "its norm", ...norm]] : []), ...(hidden ? [["hidden", ...hidden]] : [])];
  const width = Math.max(...vectors.map(({ length }) => length)) - 1;
  const padded = (/** @type {(string | number)[]} */ row) => [...row, ...Array(width + 1 - row.length).fill("")];
  const rows = [...vectors.map((row) => [...padded(row), ...blank]), ...logits.flatMap((logit, at) => {
    const weights = classifier.rows.map((row) => row[at]);
    const of = logits.length > 1 ? ` of ${run.className(at)}` : "";
    return [[...padded([`weights${of}`, ...weights]), classifier.hasBias ? classifier.bias[at] : "", ""], [...padded([`${own} × weights${of}`, ...weights.map((weight, index) => weight * read[index])]), "", logit]];
  })];
  const reads = isMean || c.query === run.reader ? "" : c.isLast ? `It does not read this query, position ${c.query}, which comes too late to be looked at. ` : `Position ${c.query} counts only as far as later layers look at it. `;
  const through = [norm ? "the last norm" : "", hidden ? "a hidden layer" : ""].filter(Boolean).join(" and ");
  const text = <>The classifier reads {name} after the last layer{through ? `, through ${through}` : ""}: each number{through ? ` of the ${what}` : ""} times its weight, added up{classifier.hasBias ? ", plus the bias" : ""}, is the logit.{run.model.tied_embeddings ? " The weights of a class are the vector of its token." : ""} {reads}<Check of={[[logits, c.way.logits]]} /></>;
  return <NumberTable id="classifier" title="Classifier" text={text} columns={["", ...names(width), "bias", logits.length > 1 ? "logits" : "logit"]} rows={rows} />;
}

/** @param {Run} run */
const placeText = (run) => run.readerName === `position ${run.reader}` ? run.readerName : `${run.readerName} (position ${run.reader})`;

/** What the classifier reads. @param {Run} run */
const readText = (run) => ({ isMean: run.readsMean, name: run.readsMean ? "the mean over all positions that are not padding" : placeText(run) });

/** @param {Omit<Stage, "c"> & { c: Computation | null, layer: number }} props */
function Decision({ run, sample, at, source, c, layer }) {
  const { label } = sample;
  const logits = run.source.results("logits", at, sample);
  const probabilities = run.source.results("probabilities", at, sample);
  const several = run.facts.logits > 1;
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
  const parts = run.model;
  const after = [layer < facts.layers - 1 ? "later layers" : "", facts.has_feed_forward ? "the feed-forward layer" : "", parts.final_norm ?? parts.norm === "pre" ? "the last norm" : "", "the classifier's weights"].filter(Boolean);
  const text = c?.hasWeights
    ? <>{several ? "The softmax of the logits gives the probabilities." : "The sigmoid of the logit, 1 / (1 + exp(−logit)), gives the probability."} <Check of={[[chances, probabilities]]} /></>
    : `The classifier reads ${readText(run).name} after the last layer. Not in this page: ${after.join(", ")}.`;
  return <NumberTable id="decision" title="Decision" text={text} columns={["", ...(several ? range(run.classCount).map((at) => run.className(at)) : ["value"])]} rows={rows} />;
}

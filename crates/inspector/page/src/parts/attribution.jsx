// Integrated gradients beside attention: what each position adds to the logit, and where the model looks.

import { fixed, range } from "../numbers.js";
import { here } from "../state.js";
import { Live } from "../sources/live.js";
import { isPlaying } from "./play.js";

/** @type {WeakMap<object, Map<string, any>>} */
const found = new WeakMap();

/** @param {Live} source @param {import("../types").Sample} sample @param {number} at @param {number} logit */
function attributed(source, sample, at, logit) {
  const all = found.get(source) ?? new Map();
  found.set(source, all);
  const key = `${sample.key},${sample.asked},${at},${logit}`;
  if (!all.has(key)) {
    if (all.size > 50) all.clear();
    all.set(
      key,
      source.trained.lab.ask(
        {
          operation: "attribute",
          config: source.config,
          tokens: [sample.tokens],
          logit: (sample.asked ?? 0) * source.logits + logit,
        },
        source.weightsAt(at),
      ),
    );
  }
  return all.get(key);
}

export function Attribution() {
  const now = here.value;
  if (!now?.one || !(now.run.source instanceof Live) || now.isWhatIf || isPlaying.value) {
    return (
      <p class="hint">
        Integrated gradients are computed for a single sample of a live page, without changes and while nothing plays.
      </p>
    );
  }
  const { run, one, at, layer, head } = now;
  const logit = run.facts.logits > 1 ? run.predicted(one, at) : 0;
  const { values, logits, points } = attributed(/** @type {Live} */ (run.source), one, at, logit);
  const weights = run.source.row("weights", at, one, layer, head, run.reader);
  const sum = values.reduce((/** @type {number} */ total, /** @type {number} */ value) => total + value, 0);
  const most = Math.max(...values.map(Math.abs), 1e-12);
  const widest = run.isShare ? 1 : Math.max(...Array.from(weights, Math.abs), 1e-12);
  return (
    <section class="card" id="attribution" aria-labelledby="attribution-title">
      <h2 id="attribution-title">What each position adds to the logit</h2>
      <p class="how">
        Integrated gradients (Sundararajan et al. 2017) from an input of zeros, {points} points, beside the attention of{" "}
        {run.readerName} in layer {layer}, head {head}. They add up to {fixed(sum)}; the logits differ by{" "}
        {fixed(logits[0] - logits[1])}.
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Integrated gradients">
        <table class="numbers">
          <thead>
            <tr>
              <th scope="col">position</th>
              <th scope="col">adds to the logit{run.facts.logits > 1 ? ` of ${run.className(logit)}` : ""}</th>
              <td />
              <th scope="col">attention of {run.readerName}</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {range(run.positions).map((position) => (
              <tr key={position}>
                <th scope="row">
                  <bdi>{run.rowName(now.sample, position)}</bdi>
                </th>
                <td>{fixed(values[position])}</td>
                <td>
                  <Bar share={values[position] / most} />
                </td>
                <td>{fixed(weights[position])}</td>
                <td>
                  <Bar share={weights[position] / widest} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** A bar to the right, or to the left for a negative share. @param {{ share: number }} props */
const Bar = ({ share }) => (
  <svg class="bar-of" viewBox="0 0 100 12" aria-hidden="true">
    <line x1="50" x2="50" y1="0" y2="12" class="rule" />
    <rect
      x={share < 0 ? 50 + 50 * share : 50}
      width={50 * Math.abs(share)}
      y="2"
      height="8"
      class={share < 0 ? "against" : "for"}
    />
  </svg>
);

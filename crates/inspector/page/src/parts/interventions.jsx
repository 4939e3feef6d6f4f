// What if: changes in the computation of the trained model, and what they do to the answer.

import { fixed, range } from "../numbers.js";
import { decisive, weightsOf } from "./sentence.js";
import { base, here } from "../state.js";
import { change, view } from "../view.js";
import { setChanges } from "./what-if.js";

/** @typedef {import("../types").Sample} Sample */

/** The probability of the shown sample without and with the changes. */
function Effect() {
  const now = here.value;
  const before = base.value;
  if (!now?.one || !before) return null;
  const [old, found] = [before.probability(now.one, now.at), now.run.probability(now.one, now.at)];
  const name =
    now.run.classCount > 2 ? "Probability of the sample's class" : `Probability of “${now.run.className(1)}”`;
  return (
    <p id="effect">
      <b>
        {name}, step {now.run.stepName(now.at)}: {fixed(old)} → <output>{fixed(found)}</output>
      </b>
      {now.isWhatIf ? "" : " (no change)"}
    </p>
  );
}

export function Interventions() {
  const now = here.value;
  if (!now?.run.isLive) return null;
  const { temperature = 1, causal = false } = view.value.changes;
  return (
    <section class="card" id="what-if" aria-labelledby="what-if-title">
      <h2 id="what-if-title">What if: the same weights, another computation</h2>
      <Effect />
      <p class="how">
        Close the eye under a token, above, and no query may look there. Switch a head off beside the matrix.
      </p>
      <div class="row">
        <label>
          Scores divided by{" "}
          <input
            id="temperature"
            type="range"
            min="-2"
            max="2"
            step="0.1"
            value={Math.log2(temperature)}
            onInput={({ currentTarget }) => {
              const factor = 2 ** Number(currentTarget.value);
              setChanges({ temperature: factor === 1 ? undefined : factor });
            }}
          />{" "}
          <output id="temperature-value">{fixed(temperature, 2)}</output>
        </label>
        <label>
          <input
            id="causal"
            type="checkbox"
            checked={causal}
            onChange={({ currentTarget }) => setChanges({ causal: currentTarget.checked })}
          />{" "}
          causal mask
        </label>
        <button id="reset" type="button" disabled={!now.isWhatIf} onClick={() => change({ changes: {} })}>
          Reset all changes
        </button>
      </div>
      <Weights />
      <Patch />
    </section>
  );
}

/** The weights of the shown query, set by hand: the others share what is left, if weights are shares. */
function Weights() {
  const now = /** @type {NonNullable<typeof here.value>} */ (here.value);
  const { rows = [] } = view.value.changes;
  if (!now.one) return <p class="hint">Choose a single sample to set the weights of a query or to patch a vector.</p>;
  const { layer, head, query } = now;
  const isThis = (/** @type {{ layer: number, head: number, query: number }} */ row) =>
    row.layer === layer && row.head === head && row.query === query;
  const weights = Array.from(now.run.source.row("weights", now.at, now.one, layer, head, query));
  const others = rows.filter((row) => !isThis(row));
  const [least, most] = [Math.floor(Math.min(0, ...weights)), Math.ceil(Math.max(1, ...weights))];
  const setWeight = (/** @type {number} */ key, /** @type {number} */ value) => {
    if (!now.run.isShare)
      return setChanges({
        rows: [
          ...others,
          {
            layer,
            head,
            query,
            weights: weights.map((weight, at) => Number((at === key ? value : weight).toFixed(6))),
          },
        ],
      });
    const rest = weights.reduce((sum, weight, at) => (at === key ? sum : sum + weight), 0);
    const shared = weights.map((weight, at) =>
      at === key ? value : rest > 0 ? (weight * (1 - value)) / rest : (1 - value) / (weights.length - 1),
    );
    setChanges({
      rows: [...others, { layer, head, query, weights: shared.map((weight) => Number(weight.toFixed(6))) }],
    });
  };
  return (
    <fieldset id="weights-by-hand">
      <legend>
        Weights of query {query} ({now.run.tokenAt(now.sample, query)}), layer {layer}, head {head}
      </legend>
      <div class="sliders">
        {weights.slice(0, now.run.length(now.sample)).map((weight, key) => (
          <label key={key}>
            <span>{now.run.rowName(now.sample, key)}</span>
            <input
              type="range"
              min={now.run.isShare ? 0 : least}
              max={now.run.isShare ? 1 : most}
              step="0.01"
              value={weight}
              disabled={!now.run.allows(/** @type {any} */ (now.one), query, key)}
              onInput={({ currentTarget }) => setWeight(key, Number(currentTarget.value))}
            />
            <output>{fixed(weight)}</output>
          </label>
        ))}
      </div>
      <button type="button" disabled={!rows.some(isThis)} onClick={() => setChanges({ rows: others })}>
        As computed
      </button>
    </fieldset>
  );
}

/** The key that the shown query looks at most. @param {NonNullable<typeof here.value>} place */
function mostOf(place) {
  const weights = weightsOf(place);
  return weights.indexOf(Math.max(...weights));
}

const PLACES = /** @type {const} */ ([
  ["embeddings", "the first block's input"],
  ["context", "a block's context"],
  ["residual", "a block's residual"],
  ["output", "a block's output"],
]);

/** A vector of another sample in place of this one's. */
function Patch() {
  const now = /** @type {NonNullable<typeof here.value>} */ (here.value);
  const { patches = [] } = view.value.changes;
  if (!now.one) return null;
  const { facts, samples } = now.run;
  const others = samples.filter(({ key }) => key !== now.sample);
  // What is patched first changes something: the token that decides, or that gets the most, from a sample of another class.
  const first = decisive(now.run, now.sample)[0] ?? mostOf(now);
  const isOther = (/** @type {Sample} */ other) =>
    other.label !== now.one?.label && other.tokens[first] !== now.one?.tokens[first];
  const donor = others.find(isOther) ?? others[0];
  const add = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const patch = /** @type {any} */ ({
      place: form.get("place"),
      layer: Number(form.get("layer") ?? 0),
      position: Number(form.get("position")),
      from: String(form.get("from")),
    });
    setChanges({
      patches: [
        ...patches.filter(
          ({ place, layer, position }) => place !== patch.place || layer !== patch.layer || position !== patch.position,
        ),
        patch,
      ],
    });
  };
  return (
    <fieldset id="patch">
      <legend>A vector from another sample</legend>
      <form class="row" onSubmit={add}>
        <label>
          Place{" "}
          <select name="place">
            {PLACES.map(([place, text]) => (
              <option key={place} value={place}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {facts.layers > 1 && (
          <label>
            Block{" "}
            <select name="layer">
              {range(facts.layers).map((layer) => (
                <option key={layer} value={layer}>
                  {layer}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          Position{" "}
          <select name="position">
            {range(now.run.length(now.sample)).map((position) => (
              <option key={position} value={position} selected={position === first}>
                {now.run.rowName(now.sample, position)}
              </option>
            ))}
          </select>
        </label>
        <label>
          From sample{" "}
          <select name="from">
            {others.map(({ key, label }) => (
              <option key={key} value={key} selected={key === donor?.key}>
                {key} ({now.run.className(label)})
              </option>
            ))}
          </select>
        </label>
        <button>Patch</button>
      </form>
      {patches.length > 0 && (
        <ul>
          {patches.map((patch, at) => (
            <li key={at}>
              {patch.place}
              {patch.place === "embeddings" ? "" : `, layer ${patch.layer}`}, position {patch.position}, from sample{" "}
              {patch.from}{" "}
              <button type="button" onClick={() => setChanges({ patches: patches.filter((other) => other !== patch) })}>
                Remove
              </button>
            </li>
          ))}
        </ul>
      )}
    </fieldset>
  );
}

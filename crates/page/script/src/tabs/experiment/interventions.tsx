// Interventions in the forward pass of the trained model, and what they do to the answer.

import { fixed, range } from "../../model/numbers";
import { decisive, weightsOf } from "../../model/sentence";
import { current } from "../../state/state";
import { change, view } from "../../state/view";
import { Choice } from "../../draw/dom";
import { setInterventions } from "../../state/intervene";
import type { Sample, VectorPatch } from "../../model/types";

type Now = NonNullable<typeof current.value>;

export function Interventions() {
  const now = current.value;
  if (!now?.run.isLive) return null;
  const { temperature = 1, causal = false } = view.value.changes;
  return (
    <section class="card" id="interventions" aria-labelledby="interventions-title">
      <h2 id="interventions-title">Interventions: the same parameters, another forward pass</h2>
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
              const factor = Number((2 ** Number(currentTarget.value)).toFixed(3));
              setInterventions({ temperature: factor === 1 ? undefined : factor });
            }}
          />{" "}
          <output>{fixed(temperature, 2)}</output>
        </label>
        <label>
          <input
            id="causal"
            type="checkbox"
            checked={causal}
            onChange={({ currentTarget }) => setInterventions({ causal: currentTarget.checked })}
          />{" "}
          causal mask
        </label>
        <button id="reset" type="button" disabled={!now.hasInterventions} onClick={() => change({ changes: {} })}>
          Reset all changes
        </button>
      </div>
      {now.one ? (
        <>
          <Weights now={now} sample={now.one} />
          <Patch now={now} sample={now.one} />
        </>
      ) : (
        <p class="hint">Choose a single sample to set the weights of a query or to patch a vector.</p>
      )}
    </section>
  );
}

/** The weights of the shown query, set by hand: the others share what is left, if weights are shares. */
function Weights({ now: { run, at, layer, head, query, sample: name }, sample }: { now: Now; sample: Sample }) {
  const { rows = [] } = view.value.changes;
  const weights = Array.from(run.source.row("weights", at, sample, layer, head, query));
  const others = rows.filter((row) => row.layer !== layer || row.head !== head || row.query !== query);
  const [least, most] = run.isShare
    ? [0, 1]
    : [Math.floor(Math.min(0, ...weights)), Math.ceil(Math.max(1, ...weights))];
  const setWeight = (key: number, value: number) => {
    const rest = weights.reduce((sum, weight, at) => (at === key ? sum : sum + weight), 0);
    const share = (weight: number) =>
      !run.isShare ? weight : rest > 0 ? (weight * (1 - value)) / rest : (1 - value) / (weights.length - 1);
    const set = weights.map((weight, at) => Number((at === key ? value : share(weight)).toFixed(6)));
    setInterventions({ rows: [...others, { layer, head, query, weights: set }] });
  };
  return (
    <fieldset id="weights-by-hand">
      <legend>
        Weights of query {query} ({run.tokenAt(name, query)}), layer {layer}, head {head}
      </legend>
      <div class="sliders">
        {weights.slice(0, run.length(name)).map((weight, key) => (
          <label key={key}>
            <span>{run.rowName(name, key)}</span>
            <input
              type="range"
              min={least}
              max={most}
              step="0.01"
              value={weight}
              disabled={!run.allows(sample, query, key)}
              onInput={({ currentTarget }) => setWeight(key, Number(currentTarget.value))}
            />
            <output>{fixed(weight)}</output>
          </label>
        ))}
      </div>
      <button type="button" disabled={others.length === rows.length} onClick={() => setInterventions({ rows: others })}>
        As computed
      </button>
    </fieldset>
  );
}

const PLACES = [
  ["embeddings", "the first layer's input"],
  ["context", "a layer's context"],
  ["residual", "a layer's residual"],
  ["output", "a layer's output"],
];

/** A vector of another sample in place of this one's. */
function Patch({ now, sample }: { now: Now; sample: Sample }) {
  const { patches = [] } = view.value.changes;
  const { run } = now;
  const others = run.samples.filter(({ key }) => key !== now.sample);
  // What is patched first changes something: the token that decides, or that gets the most, from a sample of another class.
  const weights = weightsOf(now);
  const first = decisive(run, now.sample)[0] ?? weights.indexOf(Math.max(...weights));
  const donor =
    others.find(({ label, tokens }) => label !== sample.label && tokens[first] !== sample.tokens[first]) ?? others[0];
  const add = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const [place, from] = [form.get("place") as VectorPatch["place"], String(form.get("from"))];
    const position = Number(form.get("position"));
    const layer = place === "embeddings" ? 0 : Number(form.get("layer") ?? 0);
    const rest = patches.filter((one) => one.place !== place || one.layer !== layer || one.position !== position);
    setInterventions({ patches: [...rest, { place, layer, position, from }] });
  };
  return (
    <fieldset id="patch">
      <legend>A vector from another sample</legend>
      <form class="row" onSubmit={add}>
        <Choice name="place" label="Place" options={PLACES} />
        {run.facts.layers > 1 && (
          <Choice name="layer" label="Layer" options={range(run.facts.layers).map((layer) => [layer, String(layer)])} />
        )}
        <Choice
          name="position"
          label="Position"
          value={first}
          options={range(run.length(now.sample)).map((position) => [position, run.rowName(now.sample, position)])}
        />
        <Choice
          name="from"
          label="From sample"
          value={donor?.key}
          options={others.map(({ key, label }) => [key, `${key} (${run.className(label)})`])}
        />
        <button>Patch</button>
      </form>
      <ul>
        {patches.map((patch, at) => (
          <li key={at}>
            {patch.place}
            {patch.place === "embeddings" ? "" : `, layer ${patch.layer}`}, position {patch.position}, from sample{" "}
            {patch.from}{" "}
            <button
              type="button"
              onClick={() => setInterventions({ patches: patches.filter((other) => other !== patch) })}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

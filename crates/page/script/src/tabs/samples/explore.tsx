// The samples, and the way of the shown one from its tokens to the decision, a computation at a time.

import { range } from "../../model/numbers";
import { currentForTabs } from "../../state/current";
import { Choice } from "../../draw/dom";
import { listed } from "../../model/sentence";
import { Samples } from "./samples";
import { Computation } from "../../walk/computation";
import { stagesOf } from "../../walk/stages";
import { Steps } from "../../walk/steps";
import { interventionsFor } from "../../sources/interventions";
import { modifications, origin } from "../../state/state";
import { change, view } from "../../state/view";
import type { Run } from "../../model/run";
import type { Sample } from "../../model/types";
import "./explore.css";

type Now = NonNullable<typeof currentForTabs.value>;

/** The computation that is shown; null where a recording has no vectors. */
function computationOf({ run, at, layer, head, query }: Now, sample: Sample) {
  const { source } = run;
  const arrays = source.arrays(at, sample);
  return (
    arrays &&
    new Computation({
      facts: { ...run.facts, read: run.asked ?? run.facts.read },
      tokens: sample.tokens,
      arrays,
      layer,
      head,
      query,
      parameter: (name) => source.parameter?.(name, at) ?? null,
      row: (name, ...where) => source.row(name, at, sample, ...where),
      allows: (query, key) => run.allows(sample, query, key),
      logits: source.results("logits", at, sample),
      probabilities: source.results("probabilities", at, sample),
      changes: interventionsFor(run, view.peek().changes),
    })
  );
}

export const ExploreTab = () => (
  <div id="explore">
    <Samples />
    {currentForTabs.value && (
      <section id="walk" aria-labelledby="walk-title">
        <h2 id="walk-title">Step by step</h2>
        <Walk now={currentForTabs.value} />
      </section>
    )}
  </div>
);

function Walk({ now }: { now: Now }) {
  const { run, one: sample, query, key } = now;
  if (!sample) {
    const [first] = run.members(now.sample);
    return (
      <>
        <p>A mean has no vectors of its own: choose a sample to go through its computations.</p>
        {first && (
          <button type="button" onClick={() => change({ sample: first.key })}>
            Show sample {first.key}
          </button>
        )}
      </>
    );
  }
  const computation = computationOf(now, sample);
  if (!computation) return <NoVectors run={run} />;
  const names = {
    token: (position: number) => run.tokenText(sample, position),
    row: (position: number) => run.rowName(sample.key, position),
    className: (label: number | null) => run.className(label),
    label: sample.label,
    count: run.length(sample.key),
  };
  const stages = stagesOf(computation, names, key);
  const rows = range(run.length(sample.key)).map((position) => [position, names.row(position)]);
  const place = `${run.sampleName(sample.key)}, step ${run.stepName(now.at)}, layer ${now.layer}, head ${now.head}`;
  return (
    <Steps stages={stages} at={Math.min(view.value.stage, stages.length)} onMove={(stage) => change({ stage })}>
      <p class="row">
        <span class="hint">
          {place}
          {run.isLive && modifications.value ? `. With: ${modifications.value}` : ""}
        </span>
        <Choice label="Query" value={query} options={rows} onChoose={(to) => change({ query: Number(to) })} />
        <Choice label="Key" value={key} options={rows} onChoose={(to) => change({ key: Number(to) })} />
      </p>
    </Steps>
  );
}

/** Says at which steps a recording has vectors. */
function NoVectors({ run }: { run: Run }) {
  const { vectors } = run.facts;
  const steps = listed(vectors.map((at) => run.stepName(at)));
  return (
    <>
      <p>
        {vectors.length
          ? `Vectors are recorded for step${vectors.length > 1 ? "s" : ""} ${steps}.`
          : `This page has ${origin.value.kind === "training" ? "vectors once it has trained" : "no vectors"}.`}
      </p>
      <p class="row">
        {vectors.map((at) => (
          <button key={at} type="button" onClick={() => change({ step: run.times[at] })}>
            Go to step {run.stepName(at)}
          </button>
        ))}
      </p>
    </>
  );
}

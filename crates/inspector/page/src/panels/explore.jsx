// The samples, and the way of the shown one from its tokens to the decision, a computation at a time.

import { range } from "../numbers.js";
import { calm } from "../parts/calm.js";
import { say } from "../parts/dom.jsx";
import { Samples } from "../parts/samples.jsx";
import { way } from "../parts/shown-computation.js";
import { stagesOf } from "../parts/stages.js";
import { Steps } from "../parts/steps.jsx";
import { departure } from "../state.js";
import { change, view } from "../view.js";

/** @typedef {NonNullable<typeof calm.value>} Now */
/** @typedef {import("../run.js").Run} Run */

export function Explore() {
  const now = calm.value;
  return (
    <div id="explore">
      <Samples />
      {now && <Walk now={now} />}
    </div>
  );
}

/** @param {{ now: Now }} props */
const Walk = ({ now }) => (
  <section id="walk" aria-labelledby="walk-title">
    <h2 id="walk-title">Step by step</h2>
    <Body now={now} />
  </section>
);

/** @param {{ now: Now }} props */
function Body({ now }) {
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
  const computation = way.value;
  if (!computation) return <NoVectors run={run} />;
  const names = {
    token: (/** @type {number} */ position) => run.tokenText(sample, position),
    row: (/** @type {number} */ position) => run.rowName(sample.key, position),
    className: (/** @type {number | null} */ label) => run.className(label),
    label: sample.label,
  };
  const stages = stagesOf(computation, names, key);
  const move = (/** @type {number} */ to) => {
    change({ stage: to });
    say(
      to
        ? `${to} of ${stages.length}: ${stages[to - 1].title}. ${stages[to - 1].sentence}`
        : `All ${stages.length} stages`,
    );
  };
  const place = `${run.sampleName(sample.key)}, step ${run.stepName(now.at)}, layer ${now.layer}, head ${now.head}`;
  return (
    <Steps stages={stages} at={Math.min(view.value.stage, stages.length)} onMove={move}>
      <p class="row place">
        <span class="hint">
          {place}
          {run.isLive && departure.value ? `. With: ${departure.value}` : ""}
        </span>
        <Position title="Query" name="query" run={run} value={query} sample={sample.key} />
        <Position title="Key" name="key" run={run} value={key} sample={sample.key} />
      </p>
    </Steps>
  );
}

/** Says at which steps a recording has vectors. @param {{ run: Run }} props */
function NoVectors({ run }) {
  const { vectors } = run.facts;
  const steps = new Intl.ListFormat("en").format(vectors.map((at) => run.stepName(at)));
  return (
    <>
      <p>
        {vectors.length
          ? `Vectors are recorded for step${vectors.length > 1 ? "s" : ""} ${steps}.`
          : "This page has no vectors."}
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

/** @param {{ title: string, name: "query" | "key", run: Run, value: number, sample: string }} props */
function Position({ title, name, run, value, sample }) {
  return (
    <label>
      {title}{" "}
      <select
        id={`walk-${name}`}
        value={value}
        onChange={(event) => change({ [name]: Number(event.currentTarget.value) })}
      >
        {range(run.positions).map((position) => (
          <option key={position} value={position}>
            {run.rowName(sample, position)}
          </option>
        ))}
      </select>
    </label>
  );
}

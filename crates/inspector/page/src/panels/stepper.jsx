// The shown sample's way to the decision, one computation at a time.

import { range } from "../numbers.js";
import { calm } from "../parts/calm.js";
import { NoVectors } from "../parts/chain.jsx";
import { say } from "../parts/dom.jsx";
import { stagesOf } from "../parts/stages.js";
import { Steps } from "../parts/steps.jsx";
import { followed, way } from "../parts/shown-computation.js";
import { departure } from "../state.js";
import { change, view } from "../view.js";

/** @typedef {NonNullable<typeof calm.value>} Now */

export function Stepper() {
  const now = calm.value;
  return now && <section id="stepper" aria-label="Step by step"><Body now={now} /></section>;
}

/** @param {{ now: Now }} props */
function Body({ now }) {
  const run = followed.value;
  const { one: sample, query, key } = now;
  if (!run) return null;
  if (run.isStatistic) return <p>The {run.name} has no vectors of its own: choose a run to go through its computations.</p>;
  if (!sample) {
    const [first] = run.members(now.sample);
    return <><p>A mean has no vectors of its own: choose a sample to go through its computations.</p>{first && <button type="button" onClick={() => change({ sample: first.key })}>Show sample {first.key}</button>}</>;
  }
  const c = way.value;
  if (!c) return <NoVectors run={run} isWhatIf={now.isWhatIf} />;
  const stages = stagesOf(c, {
    token: (position) => run.tokenText(sample, position), row: (position) => run.rowName(sample.key, position), className: (label) => run.className(label), label: sample.label,
  }, key);
  const at = Math.min(Math.max(view.value.stage, 1), stages.length) - 1;
  const move = (/** @type {number} */ to) => {
    change({ stage: to + 1 });
    say(`${to + 1} of ${stages.length}: ${stages[to].title}. ${stages[to].sentence}`);
  };
  const place = `${run.sampleName(sample.key)}, step ${run.stepName(now.at)}, layer ${now.layer}, head ${now.head}`;
  return (
    <>
      {now.isWhatIf && !run.isLive && <p class="failed">The numbers below are as recorded: the what-if does not change them.</p>}
      <Steps stages={stages} at={at} onMove={move}>
        <p class="row place">
          <span class="hint">{place}{run.isLive && departure.value ? `. With: ${departure.value}` : ""}</span>
          <Position title="Query" name="query" run={run} value={query} sample={sample.key} />
          <Position title="Key" name="key" run={run} value={key} sample={sample.key} />
        </p>
      </Steps>
      <p class="hint">← and → do the same as Back and Next. A framed row is that of the query, or of the key that the sentence names.</p>
    </>
  );
}

/** @param {{ title: string, name: "query" | "key", run: import("../run.js").Run, value: number, sample: string }} props */
function Position({ title, name, run, value, sample }) {
  return (
    <label>{title} <select id={`stepper-${name}`} value={value} onChange={(event) => change({ [name]: Number(event.currentTarget.value) })}>
      {range(run.positions).map((position) => <option key={position} value={position}>{run.rowName(sample, position)}</option>)}
    </select></label>
  );
}

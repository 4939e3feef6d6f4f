// Where the numbers come from, for each run.

import { tomlOf } from "../model/config";
import { page } from "../model/facts";
import { config, dataOf, modifications, experiment, origin, runs, settings, trainedHash } from "../state/state";
import { showUserSample } from "../state/user-samples";
import type { Run } from "../model/run";
import type { ComponentChildren } from "preact";
import "./evidence.css";
import { hasInterventions } from "../state/current";

export function EvidenceTab() {
  const all = runs.value;
  return (
    <div id="evidence">
      <h2>Origin of the numbers</h2>
      <Experiment />
      {all.length !== 1 && <Origin />}
      {all.map((run, at) => (
        <OfRun key={at} run={run} isAlone={all.length === 1} />
      ))}
    </div>
  );
}

/** How the page's numbers came about, with the hashes that tell. */
function Origin() {
  const { kind, badge, text } = origin.value;
  const expected = page.runs[0]?.again?.live?.weights_sha256;
  const found = trainedHash.value;
  const same = expected && (found === expected ? " (the same)" : " (different)");
  return (
    <>
      <p class={kind === "differs" ? "failed" : undefined}>{text && `${badge}: ${text}`}</p>
      <dl>
        {expected && <Entry name="SHA-256 of the run's weights" text={expected} />}
        {found && <Entry name="SHA-256 of the weights that this page trained" text={`${found}${same ?? ""}`} />}
      </dl>
    </>
  );
}

/** The experiment or the changes that are shown in place of the page's own run. */
function Experiment() {
  const trained = experiment.value?.outcome;
  const named = modifications.value;
  if (!named) return null;
  const data = dataOf(settings.value);
  const toml = trained && config.value ? tomlOf(config.value) : "";
  return (
    <section class="card" aria-labelledby="departure-title">
      <h3 id="departure-title">
        Shown now: <bdi>{named}</bdi>
      </h3>
      {hasInterventions.value && (
        <p>The page computes with the same parameters and these interventions; no training produced these numbers.</p>
      )}
      {trained && (
        <>
          <p>
            The page trained this experiment itself. <code>headlight train</code> gives the same weights from this
            config{data ? " and the same samples" : ""}.
          </p>
          <dl>
            <Entry name="SHA-256 of its weights" text={trained.ended.weights_sha256} />
            {data && "table" in data && data.sha256 && (
              <Entry name={`SHA-256 of ${config.value?.data.file}`} text={data.sha256} />
            )}
            <Entry name="Its config, as TOML" text={toml} />
          </dl>
        </>
      )}
    </section>
  );
}

function OfRun({ run, isAlone }: { run: Run; isAlone: boolean }) {
  const { notes, evidence } = run.facts;
  return (
    <section class="of-run">
      <h3>
        {isAlone ? "The page's run: " : ""}
        <bdi>{run.name}</bdi>
      </h3>
      {isAlone && <Origin />}
      <ul>
        {notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      <dl>
        {evidence.map(({ name, text, inputs }) => (
          <Entry key={name} name={name} text={text} more={inputs && <Inputs run={run} inputs={inputs} />} />
        ))}
      </dl>
    </section>
  );
}

/** Inputs that open as samples. */
const Inputs = ({ run, inputs }: { run: Run; inputs: NonNullable<Run["facts"]["evidence"][number]["inputs"]> }) => (
  <ul>
    {inputs.map(({ tokens, about }) => {
      const own = run.withoutCls(tokens);
      const open = () => {
        showUserSample(own, []);
        document.getElementById("card")?.scrollIntoView();
      };
      return (
        <li key={tokens}>
          <button type="button" disabled={!run.isLive} onClick={open}>
            {own.join(" ")}
          </button>{" "}
          {about}
        </li>
      );
    })}
  </ul>
);

const Entry = ({ name, text, more }: { name: string; text: string; more?: ComponentChildren }) => (
  <>
    <dt>{name}</dt>
    <dd>
      {text.includes("\n") ? (
        <details>
          <summary>show</summary>
          <pre tabIndex={0}>{text}</pre>
        </details>
      ) : (
        text
      )}
      {more}
    </dd>
  </>
);

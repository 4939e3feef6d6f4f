// The shown sample: its tokens, where a query looks, and what the model answers.

import { Answer } from "./answer";
import { currentSampleKey, currentQuery, currentSample, current10Hz, currentWeights10Hz } from "../../state/current";
import { spoken } from "../../state/play";
import { sentenceOf } from "../../model/sentence";
import { Choice } from "../../draw/dom";
import { Explained } from "../../draw/explained";
import { Tokens } from "./tiles";
import { isOff } from "../../state/intervene";
import { inputError, showText } from "../../state/user-samples";
import { isUserSample, type Run } from "../../model/run";
import { baseRun, shownRun } from "../../state/state";
import { change } from "../../state/view";
import type { Sample } from "../../model/types";
import "./sample-card.css";

// A list of more samples is of no help.
const MAX_LISTED = 300;

export function SampleCard() {
  if (!shownRun.value) return null;
  return (
    <section id="card" class="card" aria-labelledby="card-title">
      <Heading />
      <Tokens />
      <Sentence />
      {!shownRun.value.isAlone && <Answer />}
      {shownRun.value.isLive ? (
        <Paste />
      ) : (
        <p class="hint">
          Click a token to see where it looks. {shownRun.value.isAlone && shownRun.value.facts.notes.join(" ")}
        </p>
      )}
    </section>
  );
}

function Heading() {
  const now = shownRun.value as Run;
  const keys = now.samples.slice(0, MAX_LISTED).map((sample) => sample.key);
  const groups = Object.keys(now.groups).filter((name) => now.members(name).length > 1);
  const place = keys.indexOf(currentSampleKey.value);
  const move = (by: number) =>
    change({ sample: keys[(Math.max(place, by < 0 ? 0 : -1) + by + keys.length) % keys.length] });
  const options = [
    ...groups.map((name) => [name, now.sampleName(name)]),
    ...now.samples.slice(0, MAX_LISTED).map((sample) => [sample.key, optionText(now, sample)]),
  ];
  if (!options.some(([name]) => name === currentSampleKey.value))
    options.unshift([currentSampleKey.value, optionText(now, now.sample(currentSampleKey.value))]);
  return (
    <div class="row">
      <h2 id="card-title">
        {isUserSample(currentSampleKey.value) || !now.isLive
          ? "Sample"
          : now.facts.held_out
            ? "Held-out text"
            : "Training sample"}
      </h2>
      <span class="choose">
        <button type="button" id="sample-before" aria-label="Sample before" onClick={() => move(-1)}>
          ‹
        </button>
        <Choice
          id="sample"
          label={<span class="unseen">Sample</span>}
          value={currentSampleKey.value}
          options={options}
          onChoose={(sample) => change({ sample })}
        />
        <button type="button" id="sample-next" aria-label="Next sample" onClick={() => move(1)}>
          ›
        </button>
      </span>
      {currentQuery.value !== now.readout && !now.isAlone && (
        <button type="button" id="from-cls" onClick={() => change({ query: now.readout })}>
          Show {now.readoutName} again
        </button>
      )}
    </div>
  );
}

function optionText(run: Run, sample: Sample | null) {
  if (!sample) return "";
  const label = sample.label === null || sample.each ? "" : ` (${run.className(sample.label)})`;
  const texts = run.texts(sample);
  return `${isUserSample(sample.key) ? "your sample" : sample.key}${label}: ${run.joined(texts.slice(0, 12))}${texts.length > 12 ? " …" : ""}`;
}

function Paste() {
  const now = shownRun.value as Run;
  const sample = currentSample.value;
  return (
    <>
      <form
        id="own"
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          showText((document.getElementById("own-tokens") as HTMLInputElement).value);
        }}
      >
        <label class="row">
          {now.unit === "word" ? "Whole sentence" : `All ${now.unit}s`}{" "}
          <input
            key={currentSampleKey.value}
            id="own-tokens"
            autocomplete="off"
            spellcheck={false}
            defaultValue={sample ? now.joined(now.texts(sample)) : ""}
            aria-describedby="own-said"
          />
        </label>
        <button>Compute</button>
      </form>
      <p id="own-said" class="failed" role="alert">
        {inputError.value}
      </p>
    </>
  );
}

function Sentence() {
  const now = current10Hz.value;
  const off = now && isOff(now.layer, now.head) ? " But this head is off: the model does not use what it sees." : "";
  const own = baseRun.value;
  const isFirst = own && !now?.hasInterventions && now?.layer === own.facts.layers - 1 && now.head === own.strongest;
  return (
    now && (
      <p id="sentence" aria-live={spoken.value}>
        <Explained text={sentenceOf(now, currentWeights10Hz.value)} />
        {off || (isFirst && own.whyStrongest)}
      </p>
    )
  );
}

// The question, what a reader can change in it, and how the numbers came about.

import { computed, effect, signal } from "@preact/signals";
import { settingsText, valueOf } from "../config.js";
import { RULES } from "../described.js";
import { page } from "../facts.js";
import { isNarrow } from "../parts/narrow.js";
import { canAsk, canTrain, hasWords } from "../parts/abilities.js";
import { TITLE } from "../parts/page-file.js";
import { limitsOf, questionOf, withKind, withRule } from "../parts/rules.js";
import { openSeed } from "../parts/seed.js";
import {
  base,
  baseConfig,
  config,
  configOf,
  departure,
  experiment,
  leftOut,
  origin,
  question,
  runs,
  settingsOf,
} from "../state.js";
import { change, view } from "../view.js";
import { SaveButton, SaveDialog } from "./save.jsx";

effect(() => {
  document.title = departure.value ? `${TITLE}: ${departure.value}` : TITLE;
});

/** What the shown numbers answer: not yet the question of an experiment that trains. */
const asked = computed(() => {
  if (runs.value.length > 1) return "";
  const shownConfig = configOf(settingsOf(base.value)) ?? base.value?.facts.config;
  const words =
    questionOf(shownConfig?.data.rule) || question.value.replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  if (words) return `Can a tiny transformer learn: ${words}`;
  const classes = base.value?.facts.classes ?? [];
  return shownConfig && classes.length ? `Can a tiny transformer learn to tell ${told(classes)} apart?` : "";
});

/** The names of classes in a sentence. @param {string[]} names */
const told = (names) =>
  names.length > 4 ? `${names.slice(0, 4).join(", ")}, …` : new Intl.ListFormat("en").format(names);

/** What came of the shown run's training, as its report says it; nothing for a training with other settings. */
const outcome = computed(() => (runs.value.length === 1 && !departure.value ? (base.value?.facts.outcome ?? "") : ""));

export function Headline() {
  return (
    <header id="headline">
      <h1>{asked.value || TITLE}</h1>
      {outcome.value && <p id="outcome">{outcome.value}</p>}
      {isNarrow.value && canTrain.value ? (
        <div class="chips-fold">
          <details>
            <summary>
              {canAsk.value
                ? "Change the question"
                : hasWords.value
                  ? "Change the seed or the texts"
                  : "Change the seed"}
            </summary>
            <Chips />
          </details>
          <SaveButton />
        </div>
      ) : (
        <Chips />
      )}
      <Status />
      <SaveDialog />
    </header>
  );
}

// The settings, apart from all else in the view: while steps play, what a reader types stays.
const settingsKey = computed(() => JSON.stringify(view.value.settings));

function Chips() {
  const key = settingsKey.value;
  const own = baseConfig();
  const now = config.peek();
  if (!canTrain.value || !own || !now)
    return (
      <div class="chips">
        <SaveButton />
      </div>
    );
  const rule = now.data.rule;
  const settings = view.peek().settings;
  return (
    <form class="chips" aria-label="The question, and the seed" onSubmit={(event) => event.preventDefault()}>
      {canAsk.value && (
        <>
          <label>
            Rule{" "}
            <select
              id="rule"
              value={rule.kind}
              onChange={(event) => change({ settings: withKind(own, settings, event.currentTarget.value) })}
            >
              {Object.entries(RULES).map(([kind, { title }]) => (
                <option key={kind} value={kind}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          {RULES[rule.kind].parameters.map(([key, name, counts]) => (
            <NumberChip
              key={`${rule.kind} ${key}`}
              id={`rule-${key}`}
              title={name}
              value={rule[key]}
              limits={limitsOf(now, counts)}
              onChange={(value) =>
                change({
                  settings: withRule(own, settings, { ...rule, [key]: value }),
                  ...(key === "position" ? { key: value } : {}),
                })
              }
            />
          ))}
        </>
      )}
      <NumberChip
        id="seed"
        title="seed"
        value={Number(valueOf(now, "seed") ?? 0)}
        limits={[0, Number.MAX_SAFE_INTEGER]}
        onChange={openSeed}
      />
      <button type="button" id="next-seed" onClick={() => openSeed(Number(valueOf(now, "seed") ?? 0) + 1)}>
        New seed
      </button>
      {hasWords.value && (
        <button type="button" id="open-texts" onClick={openTexts}>
          Your own texts
        </button>
      )}
      {!isNarrow.value && <SaveButton />}
      {(key !== "{}" || hasChanges.value) && (
        <button type="button" id="back-to-run" onClick={goBack}>
          Back to the {page.lab ? "beginning" : "run"}
        </button>
      )}
    </form>
  );
}

/** Shows where the reader gives texts. */
function openTexts() {
  change({ tab: "experiment" });
  requestAnimationFrame(() => document.getElementById("own-csv")?.focus());
}

function goBack() {
  change({ settings: {}, changes: {} });
  // The button is gone.
  document.getElementById("save")?.focus();
}

const hasChanges = computed(() => Object.keys(view.value.changes).length > 0);

/** A number of the experiment. @param {{ id: string, title: string, value: number, limits: [number, number], onChange: (value: number) => void }} props */
function NumberChip({ id, title, value, limits: [least, most], onChange }) {
  const changed = (/** @type {Event & { currentTarget: HTMLInputElement }} */ event) => {
    const field = event.currentTarget;
    const number = Number(field.value);
    if (field.value !== "" && Number.isInteger(number) && number >= least && number <= most) {
      if (number !== value) onChange(number);
    } else {
      wrong.value = `${title[0].toUpperCase()}${title.slice(1)} ${field.value || "without a number"}: it must be a whole number from ${least} to ${most}.`;
      field.value = String(value);
      return;
    }
    wrong.value = "";
  };
  const digits = most > 9999 ? 5 : String(most).length;
  return (
    <label>
      {title}{" "}
      <input
        type="number"
        id={id}
        class="number"
        style={{ "--digits": digits }}
        min={least}
        max={most > 1e6 ? undefined : most}
        step={1}
        value={value}
        required
        onChange={changed}
      />
    </label>
  );
}

/** Why a number was not taken; it says nothing about the next question. */
const wrong = signal("");
effect(() => {
  void settingsKey.value;
  wrong.value = "";
});

function Status() {
  return (
    <div id="status" class={departure.value ? "departed" : ""}>
      <Origin />
      <ExperimentState />
      <p id="wrong" class="failed" role="alert">
        {wrong.value}
      </p>
    </div>
  );
}

// Steps of a training are not announced; its beginning and its end are.
/** @param {{ steps: [number, number] | undefined }} props */
const Progress = ({ steps }) =>
  steps && steps[1] > 0 ? (
    <span class="progress" aria-hidden="true">
      {" "}
      <progress value={steps[0]} max={steps[1]} /> step {steps[0]} of {steps[1]}
    </span>
  ) : null;

function Origin() {
  const { kind, badge, text, brief = text, progress, ask, stop } = origin.value;
  return (
    <p id="origin" role="status" class={kind}>
      {text && (
        <>
          <b class="badge">{badge}</b>
          <span class="unseen">: </span>
          <span class="rest">{brief.charAt(0).toUpperCase() + brief.slice(1)}</span>
        </>
      )}
      <Progress steps={progress} />
      {ask && (
        <>
          {" "}
          <button type="button" onClick={ask}>
            Train it {page.lab ? "" : "again "}here
          </button>
        </>
      )}
      {stop && (
        <>
          {" "}
          <button type="button" onClick={stop}>
            Stop
          </button>
        </>
      )}
    </p>
  );
}

/** What became of the experiment that the settings describe, and what is shown in place of the run. */
function ExperimentState() {
  const now = experiment.value;
  const text = departure.value;
  const left =
    leftOut.value &&
    `Left out, since this ${base.value?.isLive ? "model" : "recording"} cannot have it: ${leftOut.value}.`;
  return (
    <p id="experiment-state" role="status" class={now?.state === "failed" ? "failed" : "departure"}>
      {now && now.state !== "trained" ? (
        <Unfinished now={now} />
      ) : (
        text && (
          <>
            <b class="badge">{now ? "Experiment" : "Changed"}</b>{" "}
            {`Not the run${page.lab ? " that the page began with" : ""}: ${text}.${now ? " The page has trained it." : ""}`}
          </>
        )
      )}{" "}
      {left}
    </p>
  );
}

/** @param {{ now: import("../types").Experiment }} props */
function Unfinished({ now }) {
  const name = settingsText(JSON.parse(now.key));
  const still = "Meanwhile the page shows the model before it.";
  if (now.state === "training")
    return (
      <>
        <b class="badge">Training</b> {`${name}. ${still}`}
        <Progress steps={[now.step, now.steps]} />{" "}
        <button type="button" onClick={now.stop}>
          Stop
        </button>
      </>
    );
  if (now.state === "asks")
    return (
      <>
        <b class="badge">Long</b> {`${name}: this training may take long. `}
        <button type="button" onClick={now.start}>
          Train it
        </button>
      </>
    );
  if (now.state === "stopped")
    return (
      <>
        <b class="badge">Stopped</b> {`${name}: you stopped this training. `}
        <button type="button" onClick={now.start}>
          Train it
        </button>
      </>
    );
  return (
    <>
      <b class="badge">Failed</b> {`${name}: the page cannot train this (${now.why}).`}
    </>
  );
}

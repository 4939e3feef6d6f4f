// The question, what a reader can change in it, and how the numbers came about.

import { computed, effect } from "@preact/signals";
import { valueOf } from "../../model/config";
import { RULES } from "../../model/described";
import { page } from "../../model/facts";
import { isNarrow } from "../../state/current";
import { canAsk, canTrain } from "../../state/abilities";
import { Choice } from "../../draw/dom";
import { Progress, StartStop, TrainingState } from "../../draw/training-state";
import { TITLE } from "./page-file";
import { limitsOf, questionOf, withKind, withRule } from "./rules";
import { openSeed } from "../../state/experiments";
import {
  baseRun,
  baseConfig,
  config,
  configOf,
  modifications,
  experiment,
  ignoredInterventions,
  origin,
  runs,
  settingsOf,
} from "../../state/state";
import { change, view } from "../../state/view";
import { SaveButton, SaveDialog } from "./save";
import "./headline.css";
import { joined } from "../../model/numbers";
import { hasInterventions } from "../../state/current";
import { chartedRun } from "../training/curves";
import { startsLooking } from "../training/marks";
import { LOOKS } from "../../model/sentence";

effect(() => {
  // Samples of the reader are none of the page's.
  const title = "data.file" in settingsOf(baseRun.value) ? "Headlight" : TITLE;
  document.title = joined([title, modifications.value], ": ");
});

/** What the shown numbers answer: not yet the question of an experiment that trains. */
const asked = computed(() => {
  if (runs.value.length > 1) return "";
  const shownConfig = configOf(settingsOf(baseRun.value)) ?? baseRun.value?.facts.config;
  const words =
    questionOf(shownConfig?.data.rule) ||
    (baseRun.value?.facts.question ?? page.question ?? "").replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  if (words) return `Can a tiny transformer learn: ${words}`;
  const classes = baseRun.value?.facts.classes ?? [];
  return shownConfig && classes.length ? `Can a tiny transformer learn to tell ${listOf(classes)} apart?` : "";
});

/** The names of classes in a sentence. */
const listOf = (names: string[]) =>
  names.length > 4 ? `${names.slice(0, 4).join(", ")}, …` : new Intl.ListFormat("en").format(names);

/** What came of the shown run's training, as its report says it. */
const outcome = computed(() => {
  const run = runs.value.length === 1 && !hasInterventions.value ? baseRun.value : null;
  const { outcome, ended } = run?.facts ?? {};
  if (!run || outcome || !ended) return outcome ?? "";
  // The curves come after all else of a run.
  const isCharted = chartedRun.value?.facts === run.facts && run.isShare;
  const isKnown = isCharted && run.samples.some((sample) => run.lookedAt(sample).length);
  const step = isKnown ? startsLooking.value : null;
  const gives = step === null ? "does not give" : "gives";
  const looks = `The shown head ${gives} what decides the label more than ${LOOKS} times uniform attention`;
  return joined([ended.outcome, isKnown && `${looks}${step === null ? "" : `, from step ${step} on`}.`]);
});

export function Headline() {
  return (
    <header id="headline">
      <h1>{asked.value || TITLE}</h1>
      {outcome.value && <p id="verdict">{outcome.value}</p>}
      {isNarrow.value && canTrain.value ? (
        <div class="chips-fold">
          <details>
            <summary>Change the {canAsk.value ? "question" : "seed"}, or the samples</summary>
            <Chips />
          </details>
          <SaveButton />
        </div>
      ) : (
        <Chips />
      )}
      <div id="status" class={modifications.value ? "departed" : ""}>
        <Origin />
        <ExperimentState />
      </div>
      <SaveDialog />
    </header>
  );
}

// The settings, apart from all else in the view: while steps play, what a reader types stays.
const settingsKey = computed(() => JSON.stringify(view.value.settings));

function Chips() {
  const isChanged = settingsKey.value !== "{}" || hasChanges.value;
  const own = baseConfig();
  const now = config.peek();
  if (!canTrain.value || !own || !now)
    return (
      <div class="chips">
        <SaveButton />
      </div>
    );
  const { rule } = now.data;
  const settings = view.peek().settings;
  const seed = Number(valueOf(now, "seed") ?? 0);
  return (
    <form class="chips" aria-label="The question, and the seed" onSubmit={(event) => event.preventDefault()}>
      {canAsk.value && (
        <>
          <Choice
            id="rule"
            label="Rule"
            value={rule.kind}
            options={Object.entries(RULES).map(([kind, { title }]) => [kind, title])}
            onChoose={(kind) => change({ settings: withKind(own, settings, kind) })}
          />
          {RULES[rule.kind].parameters.map(([key, name, counts]) => (
            <NumberChip
              key={`${rule.kind} ${key}`}
              id={`rule-${key}`}
              title={name}
              value={rule[key]}
              limits={limitsOf(now, counts)}
              set={(value) =>
                change({
                  settings: withRule(own, settings, { ...rule, [key]: value }),
                  ...(key === "position" ? { key: value } : {}),
                })
              }
            />
          ))}
        </>
      )}
      <NumberChip id="seed" title="seed" value={seed} limits={[0, Number.MAX_SAFE_INTEGER]} set={openSeed} />
      <button type="button" id="next-seed" onClick={() => openSeed(seed + 1)}>
        New seed
      </button>
      <button type="button" id="open-texts" onClick={openTexts}>
        Your own texts
      </button>
      {!isNarrow.value && <SaveButton />}
      {isChanged && (
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

type ChipProps = { id: string; title: string; value: number; limits: [number, number]; set: (value: number) => void };

/** A number of the experiment. */
const NumberChip = ({ id, title, value, limits: [least, most], set }: ChipProps) => (
  <label>
    {title}{" "}
    <input
      type="number"
      id={id}
      class="number"
      min={least}
      max={most}
      step={1}
      value={value}
      required
      title={`${least} to ${most}`}
      onChange={({ currentTarget }) => {
        if (currentTarget.reportValidity()) set(Number(currentTarget.value));
      }}
    />
  </label>
);

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
      <Progress steps={progress} />{" "}
      <StartStop start={ask} stop={stop} title={`Train it ${page.lab ? "" : "again "}here`} />
    </p>
  );
}

/** What became of the experiment that the settings describe, and what is shown in place of the run. */
function ExperimentState() {
  const now = experiment.value;
  const isShown = !now || now.state === "trained";
  const left =
    ignoredInterventions.value &&
    `Left out, since this ${baseRun.value?.isLive ? "model" : "recording"} cannot have it: ${ignoredInterventions.value}.`;
  return (
    <p id="experiment-state" role="status" class="departure">
      <TrainingState />
      {isShown && modifications.value && (
        <>
          <b class="badge">{now ? "Experiment" : "Changed"}</b>{" "}
          {`Not the run${page.lab ? " that the page began with" : ""}: ${modifications.value}.${now ? " The page has trained it." : ""}`}
        </>
      )}{" "}
      {left}
    </p>
  );
}

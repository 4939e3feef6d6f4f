// The list of samples: searched and filtered, in one order for all steps.

import { computed, signal, type Signal } from "@preact/signals";
import { fixed, joined } from "../../model/numbers";
import { isUserSample, type Run } from "../../model/run";
import { baseRun } from "../../state/state";
import { change } from "../../state/view";
import { currentForTabs } from "../../state/current";
import { Choice, announce, meaningOf } from "../../draw/dom";
import { matches, wordsOf } from "./search";
import type { Sample } from "../../model/types";

const MAX_LISTED = 200;
const MAX_TOKENS = 24;
const ALL = ["", "all"];

const search = signal("");
const label = signal("");
const outcome = signal("");

const run = computed(() => currentForTabs.value?.run ?? null);

/** What samples are ordered by: of a model that answers at each position, the share of right answers. */
function chanceOf(run: Run, sample: Sample, at: number) {
  if (!run.asksEach) return run.probability(sample, at);
  const [right, count] = run.tally(sample, at);
  return right / (count || 1);
}

/** All samples by their probability at the step that the page shows first. Changes of the reader leave the order as it is. */
const ordered = computed(() => {
  const own = baseRun.value?.facts === run.value?.facts ? baseRun.value : run.value;
  if (!own) return [];
  const chances = new Map(own.samples.map((sample) => [sample, chanceOf(own, sample, own.at(own.opening))]));
  return own.samples.toSorted(
    (one, other) => Number(chances.get(other)) - Number(chances.get(one)) || Number(one.index) - Number(other.index),
  );
});

const found = computed(() => {
  const now = run.value;
  const words = wordsOf(search.value);
  const at = outcome.value ? (currentForTabs.value?.at ?? 0) : 0;
  if (!now) return [];
  return ordered.value.filter(
    (sample) =>
      matches(
        sample,
        sample.tokens.map((_, position) => now.tokenText(sample, position)),
        words,
      ) &&
      (!label.value || (sample.each ?? [[sample.label]]).some(([own]) => String(own) === label.value)) &&
      (!outcome.value || outcomeOf(now, sample, at) === outcome.value),
  );
});

const outcomeOf = (run: Run, sample: Sample, at: number) =>
  run.asksEach ? wholeOutcome(run.tally(sample, at)) : run.outcome(sample, at);

const wholeOutcome = ([right, count]: [right: number, count: number]) =>
  !count ? "" : right === count ? "right" : "wrong";

function countText(run: Run) {
  const cut = found.value.length > MAX_LISTED ? `; the first ${MAX_LISTED} are listed` : "";
  const over =
    outcome.value && currentForTabs.value ? ` have this outcome at step ${run.stepName(currentForTabs.value.at)}` : "";
  return `${found.value.length} of ${run.samples.length}${over}, in order of ${run.asksEach ? "right answers" : "probability"} at step ${run.stepName(run.at(run.opening))}${cut}`;
}

function filterBy(filter: Signal<string>, value: string) {
  filter.value = value;
  if (run.value) announce(countText(run.value));
}

export function Samples() {
  const now = run.value;
  if (!now) return null;
  const labels = Object.values(now.groups);
  return (
    <section id="samples" aria-labelledby="samples-title">
      <h2 id="samples-title">Samples</h2>
      <label>
        Search{" "}
        <input
          id="search"
          type="search"
          spellcheck={false}
          placeholder="tokens in order, or a number"
          value={search.value}
          onInput={(event) => filterBy(search, event.currentTarget.value)}
        />
      </label>
      <Choice
        id="class"
        label="Class"
        value={label.value}
        options={[ALL, ...labels.map((value) => [String(value), now.className(value)])]}
        onChoose={(value) => filterBy(label, value)}
      />
      <Choice
        id="outcome"
        label="Outcome"
        value={outcome.value}
        options={[ALL, ...Object.entries(now.outcomes)]}
        onChoose={(value) => filterBy(outcome, value)}
      />
      <p id="count" class="hint">
        {countText(now)}
      </p>
      <List />
    </section>
  );
}

/** Up and down move through the list: it is one stop of the tab key. */
function move(event: KeyboardEvent & { currentTarget: HTMLElement }) {
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  const to = meaningOf(event, { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: buttons.length - 1 });
  if (to === undefined) return;
  buttons[Math.min(buttons.length - 1, Math.max(0, to))]?.focus();
}

function List() {
  const now = currentForTabs.value;
  if (!now) return null;
  const { run, sample: current, one, at } = now;
  const groups = Object.keys(run.groups).filter((name) => run.members(name).length);
  const listed = found.value.slice(0, MAX_LISTED);
  const samples = one && isUserSample(one.key) ? [one, ...listed] : listed;
  const keys = [...groups, ...samples.map(({ key }) => key)];
  const stop = keys.includes(current) ? current : keys[0];
  return (
    <ul id="list" class="plain" aria-label="Samples" onKeyDown={move}>
      {keys.map((key, place) => (
        <li key={key}>
          <button
            type="button"
            data-sample={key}
            aria-current={key === current ? "true" : undefined}
            tabIndex={key === stop ? 0 : -1}
            onClick={() => change({ sample: key })}
          >
            {place < groups.length ? (
              <>
                <span class="number">mean</span> <span class="tokens">{run.sampleName(key).replace("mean ", "")}</span>
              </>
            ) : (
              <Entry run={run} sample={samples[place - groups.length]} at={at} />
            )}
          </button>
        </li>
      ))}
    </ul>
  );
}

function Entry({ run, sample, at }: { run: Run; sample: Sample; at: number }) {
  const kind = outcomeOf(run, sample, at);
  const [right, count] = run.asksEach ? run.tally(sample, at) : [];
  const label = sample.label === null ? "" : run.className(sample.label);
  const text = run.asksEach ? (count ? `${right} of ${count} right` : "") : joined([label, run.outcomes[kind]], ", ");
  return (
    <>
      <span class="number">{isUserSample(sample.key) ? "yours" : sample.key}</span>{" "}
      <span class="tokens">
        {sample.tokens.slice(0, MAX_TOKENS).map((_, position) => (
          <>
            <bdi>
              {sample.marked.includes(position) ? "◆" : ""}
              {run.tokenText(sample, position)}
            </bdi>{" "}
          </>
        ))}
        {sample.tokens.length > MAX_TOKENS ? "…" : ""}
      </span>{" "}
      <span class={`outcome ${kind}`}>{text}</span>{" "}
      {!run.asksEach && <span class="probability">{fixed(run.probability(sample, at))}</span>}
    </>
  );
}

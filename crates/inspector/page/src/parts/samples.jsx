// The list of samples: searched and filtered, in one order for all steps.

import { computed, signal } from "@preact/signals";
import { fixed } from "../numbers.js";
import { isOwn } from "../run.js";
import { base } from "../state.js";
import { change } from "../view.js";
import { calm } from "./calm.js";
import { Choice, say } from "./dom.jsx";
import { matches, wordsOf } from "./search.js";

/** @typedef {import("../run.js").Run} Run */
/** @typedef {import("../types").Sample} Sample */

const MOST_LISTED = 200;
const MOST_TOKENS = 24;
/** @type {[string, string]} */
const ALL = ["", "all"];

const search = signal("");
const label = signal("");
const outcome = signal("");

const run = computed(() => calm.value?.run ?? null);

/** What samples are ordered by: of a model that answers at each position, the share of right answers. @param {Run} run @param {Sample} sample @param {number} at */
function chanceOf(run, sample, at) {
  if (!run.asksEach) return run.probability(sample, at);
  const [right, count] = run.tally(sample, at);
  return right / (count || 1);
}

/** All samples by their probability at the last step. Changes of the reader leave the order as it is. */
const ordered = computed(() => {
  const own = base.value?.facts === run.value?.facts ? base.value : run.value;
  if (!own) return [];
  const chances = new Map(own.samples.map((sample) => [sample, chanceOf(own, sample, own.times.length - 1)]));
  return own.samples.toSorted(
    (one, other) => Number(chances.get(other)) - Number(chances.get(one)) || Number(one.index) - Number(other.index),
  );
});

const found = computed(() => {
  const now = run.value;
  const words = wordsOf(search.value);
  const at = outcome.value ? (calm.value?.at ?? 0) : 0;
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

/** @param {Run} run @param {Sample} sample @param {number} at */
const outcomeOf = (run, sample, at) => (run.asksEach ? wholeOutcome(run.tally(sample, at)) : run.outcome(sample, at));

/** @param {[right: number, count: number]} tally */
const wholeOutcome = ([right, count]) => (!count ? "" : right === count ? "right" : "wrong");

/** @param {Run} run */
function countText(run) {
  const cut = found.value.length > MOST_LISTED ? `; the first ${MOST_LISTED} are listed` : "";
  const over = outcome.value && calm.value ? ` have this outcome at step ${run.stepName(calm.value.at)}` : "";
  return `${found.value.length} of ${run.samples.length}${over}, in order of ${run.asksEach ? "right answers" : "probability"} at step ${run.stepName(run.times.length - 1)}${cut}`;
}

/** @param {import("@preact/signals").Signal<string>} filter @param {string} value */
function filterBy(filter, value) {
  filter.value = value;
  if (run.value) say(countText(run.value));
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
        options={[
          ALL,
          ...labels.map((value) => /** @type {[string, string]} */ ([String(value), now.className(value)])),
        ]}
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

/** Up and down move through the list: it is one stop of the tab key. @param {KeyboardEvent & { currentTarget: HTMLElement }} event */
function move(event) {
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
  const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  buttons[Math.min(buttons.length - 1, Math.max(0, to))]?.focus();
}

function List() {
  const now = calm.value;
  if (!now) return null;
  const { run, sample: current, one } = now;
  const groups = Object.keys(run.groups).filter((name) => run.members(name).length);
  const listed = found.value.slice(0, MOST_LISTED);
  const samples = one && isOwn(one.key) ? [one, ...listed] : listed;
  const keys = [...groups, ...samples.map(({ key }) => key)];
  const stop = keys.includes(current) ? current : keys[0];
  return (
    <ul id="list" class="plain" aria-label="Samples" onKeyDown={move}>
      {groups.map((name) => (
        <Entry key={name} name={name} isCurrent={name === current} isStop={name === stop}>
          <span class="number">mean</span> <span class="tokens">{run.sampleName(name).replace("mean ", "")}</span>
        </Entry>
      ))}
      {samples.map((sample) => (
        <SampleEntry
          key={sample.key}
          run={run}
          sample={sample}
          at={now.at}
          isCurrent={sample.key === current}
          isStop={sample.key === stop}
        />
      ))}
    </ul>
  );
}

/** @param {{ name: string, isCurrent: boolean, isStop: boolean, children?: any }} props */
function Entry({ name, isCurrent, isStop, children }) {
  return (
    <li>
      <button
        type="button"
        data-sample={name}
        aria-current={isCurrent ? "true" : undefined}
        tabIndex={isStop ? 0 : -1}
        onClick={() => change({ sample: name })}
      >
        {children}
      </button>
    </li>
  );
}

/** @param {{ run: Run, sample: Sample, at: number, isCurrent: boolean, isStop: boolean }} props */
function SampleEntry({ run, sample, at, isCurrent, isStop }) {
  const kind = outcomeOf(run, sample, at);
  const [right, count] = run.asksEach ? run.tally(sample, at) : [];
  return (
    <Entry name={sample.key} isCurrent={isCurrent} isStop={isStop}>
      <span class="number">{isOwn(sample.key) ? "yours" : sample.key}</span> <Tokens run={run} sample={sample} />{" "}
      {count === undefined ? (
        <>
          <span class={`outcome ${kind}`}>
            {[sample.label === null ? "" : run.className(sample.label), run.outcomes[kind]].filter(Boolean).join(", ")}
          </span>{" "}
          <span class="probability">{fixed(run.probability(sample, at))}</span>
        </>
      ) : (
        count > 0 && (
          <span class={`outcome ${kind}`}>
            {right} of {count} right
          </span>
        )
      )}
    </Entry>
  );
}

/** @param {{ run: Run, sample: Sample }} props */
const Tokens = ({ run, sample }) => (
  <span class="tokens">
    {sample.tokens.slice(0, MOST_TOKENS).map((_, position) => (
      <>
        <bdi class={sample.marked.includes(position) ? "token marked" : "token"}>
          {sample.marked.includes(position) ? "◆" : ""}
          {run.tokenText(sample, position)}
        </bdi>{" "}
      </>
    ))}
    {sample.tokens.length > MOST_TOKENS ? "…" : ""}
  </span>
);

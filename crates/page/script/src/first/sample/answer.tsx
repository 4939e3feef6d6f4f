// What the model answers for the shown sample, and whether it is right.

import { classColour } from "../../draw/colour";
import { fixed, mean, range, shorten } from "../../model/numbers";
import { isUserSample, type Run } from "../../model/run";
import { interventionsFor, interventionsText } from "../../sources/interventions";
import { baseRun } from "../../state/state";
import { view } from "../../state/view";
import { current10Hz } from "../../state/current";
import { spoken } from "../../state/play";
import { decisive } from "../../model/sentence";
import { cut } from "../../state/user-samples";
import type { Sample } from "../../model/types";

// More bars scroll.
const MAX_BARS = 5;

/** How a model of two classes without names is wrong. */
const MISTAKES: Record<string, string> = { missed: "it missed this one", false: "a false alarm" };

export function Answer() {
  const now = current10Hz.value;
  if (!now) return null;
  const { run, sample, at } = now;
  const members = run.members(sample);
  const several = run.classCount > 2;
  const results = resultsOf(run, at, members);
  const before = now.hasInterventions && baseRun.value ? resultsOf(baseRun.value, at, members) : null;
  const label = labelOf(run, sample);
  return (
    <div class="answer">
      {several ? (
        <Bars results={results} before={before} run={run} label={label} />
      ) : (
        <Gauge value={results[results.length - 1]} before={before?.[before.length - 1]} run={run} />
      )}
      <p class="verdict" aria-live={spoken.value}>
        <Verdict now={now} members={members} label={label} />
        {now.one && wholeText(run, now.one, at)}
      </p>
      <p class="hint">{`${noteOf(now, members)} ${cut.value}`.trim()}</p>
    </div>
  );
}

/** The probability of each class, or of the positive one: of a sample or the mean over several. */
function resultsOf(run: Run, at: number, members: Sample[]) {
  const all = members.map((member) => run.source.results("probabilities", at, member));
  return all.length ? range(all[0].length).map((logit) => mean(all.map((values) => values[logit]))) : [];
}

/** Where the value was without the reader's changes. */
const Before = ({ value }: { value: number | undefined }) =>
  value === undefined ? null : <span class="before" style={{ left: `${100 * value}%` }} />;

const labelOf = (run: Run, sample: string) =>
  run.isGroup(sample) ? run.groups[sample] : (run.sample(sample)?.label ?? null);

function Gauge({ value, before, run }: { value: number; before?: number; run: Run }) {
  return (
    <div class="gauge">
      <span>Probability of “{run.className(1)}”</span>
      <b class="gauge-value">
        {before !== undefined && <span class="was hint">{fixed(before)} → </span>}
        {fixed(value)}
      </b>
      <span class="track" aria-hidden="true">
        <span class="fill" style={{ transform: `scaleX(${value})` }} />
        <span class="half" />
        <Before value={before} />
      </span>
    </div>
  );
}

type BarsProps = { results: number[]; before: number[] | null; run: Run; label: number | null };

function Bars({ results, before, run, label }: BarsProps) {
  const chosen = results.indexOf(Math.max(...results));
  // What the model answers is in sight, and so is the label.
  const first = results.length > MAX_BARS ? [chosen, ...(label === null || label === chosen ? [] : [label])] : [];
  const order = [...first, ...range(results.length).filter((at) => !first.includes(at))];
  return (
    <ul class="bars plain" tabIndex={results.length > MAX_BARS ? 0 : undefined} aria-label="Probability of each class">
      {order.map((at) => (
        <li key={at} class={at === label ? "label" : ""}>
          <span class="name">
            <bdi>{run.className(at)}</bdi>
            {at === label ? " (label)" : ""}
          </span>
          <span class="track" aria-hidden="true">
            <span
              class="fill"
              style={{ transform: `scaleX(${results[at]})`, background: classColour(at, run.classCount) }}
            />
            <Before value={before?.[at]} />
          </span>
          <b>{fixed(results[at])}</b>
        </li>
      ))}
    </ul>
  );
}

type VerdictProps = { now: NonNullable<typeof current10Hz.value>; members: Sample[]; label: number | null };

function Verdict({ now: { run, at }, members, label }: VerdictProps) {
  const [first] = members;
  const answer = <bdi>{first && run.className(run.predicted(first, at))}</bdi>;
  if (label === null)
    return (
      <>
        {first?.each?.length ? `No label counts at position ${run.readout}` : "Label unknown"}; the model answers{" "}
        {answer}.
      </>
    );
  const outcomes = members.map((member) => run.outcome(member, at));
  const right = outcomes.filter((outcome) => outcome === "right").length;
  const mistake = run.facts.classes.length ? undefined : MISTAKES[outcomes[0]];
  return (
    <>
      Label{run.asksEach ? ` at position ${run.readout}` : ""}: <bdi>{run.className(label)}</bdi>.{" "}
      {outcomes.length > 1 ? (
        `Right: ${right} of ${outcomes.length}.`
      ) : right ? (
        <>
          The model is <b>right</b>.
        </>
      ) : (
        <>
          The model is <b class="bad">wrong: {mistake ?? <>it answers {answer}</>}</b>.
        </>
      )}
    </>
  );
}

/** How many positions of a sample are right, if each has an answer. */
function wholeText(run: Run, sample: Sample, at: number) {
  const [right, count] = run.asksEach ? run.tally(sample, at) : [0, 0];
  return count > 0 && ` Of the ${count} positions with a label, ${right} ${right === 1 ? "is" : "are"} right.`;
}

function noteOf({ run, hasInterventions, sample }: NonNullable<typeof current10Hz.value>, members: Sample[]) {
  const [own] = members;
  const unknown = own?.typed?.filter(Boolean) ?? [];
  const unread = unknown.length ? `Not in the vocabulary, and read as [UNK]: ${shorten(unknown.join(", "), 60)}. ` : "";
  if (hasInterventions)
    return `${unread}With: ${interventionsText(interventionsFor(baseRun.value, view.value.changes))}.`;
  if (run.words && isUserSample(sample) && run.facts.config?.data.rule && own?.label === null)
    return `${unread}No sentence of the training is built like this one, so the answer may mean little.`;
  if (unread) return unread;
  const keys = decisive(run, sample);
  if (keys.length)
    return `By the rule, ◆ decides the label.${run.isLive && members.length === 1 ? " Close its eye to test the model." : ""}`;
  return "";
}

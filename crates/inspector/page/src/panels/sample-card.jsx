// The shown sample: its tokens, where a query looks, and what the model answers.

import { computed, effect, signal } from "@preact/signals";
import { classColour } from "../colour.js";
import { fixed, mean, percent as whole, range, shorten } from "../numbers.js";
import { guess, isAsked } from "../parts/guess.js";
import { isNarrow } from "../parts/narrow.js";
import { isPlaying } from "../parts/play.js";
import { decisive, percent, sentenceOf, weightsOf } from "../parts/sentence.js";
import { TokenRow } from "../parts/token-row.jsx";
import { tokenOf, tokensOf, typedOf } from "../parts/tokens.js";
import { isOwn } from "../run.js";
import { departure, here, runs } from "../state.js";
import { change, changeSoon, settleAddress, view } from "../view.js";

/** @typedef {import("../run.js").Run} Run */
/** @typedef {import("../types").Sample} Sample */

// A list of more samples is of no help.
const MOST_LISTED = 300;

// Parts of the view on their own: while steps play, what reads them stays as it is, and so does what a reader types.
const run = computed(() => here.value?.run ?? null);
const key = computed(() => here.value?.sample ?? "");
const one = computed(() => here.value?.one ?? null);
const query = computed(() => here.value?.query ?? 0);
const guide = computed(() => view.value.guide);

// More positions than these may need more room than there is; words are longer than numbers.
const mostInARow = () => run.value?.words ? 5 : isNarrow.value ? 9 : 14;

const weights = computed(() => here.value ? weightsOf(here.value) : new Float64Array());

export function SampleCard() {
  if (!run.value) return null;
  return (
    <section id="card" class="card" aria-labelledby="card-title">
      <Heading />
      <Tokens />
      <Sentence />
      <Answer />
      <Paste />
    </section>
  );
}

// The choice of the sample.

function Heading() {
  const now = /** @type {Run} */ (run.value);
  const keys = now.samples.slice(0, MOST_LISTED).map((sample) => sample.key);
  const groups = Object.keys(now.groups).filter((name) => now.members(name).length > 1);
  const place = keys.indexOf(key.value);
  const move = (/** @type {number} */ by) => change({ sample: keys[(Math.max(place, by < 0 ? 0 : -1) + by + keys.length) % keys.length] });
  const isListed = place >= 0 || groups.includes(key.value);
  return (
    <div class="row heading">
      <h2 id="card-title">{now.facts.held_out ? "Held-out text" : "Sample"}</h2>
      <span class="choose">
        <button type="button" id="sample-before" aria-label="Sample before" onClick={() => move(-1)}>‹</button>
        <select id="sample" aria-label="Sample" value={key.value} onChange={(event) => change({ sample: event.currentTarget.value })}>
          {!isListed && <option value={key.value}>{optionText(now, now.sample(key.value))}</option>}
          {groups.map((name) => <option key={name} value={name}>{now.sampleName(name)}</option>)}
          {now.samples.slice(0, MOST_LISTED).map((sample) => <option key={sample.key} value={sample.key}>{optionText(now, sample)}</option>)}
        </select>
        <button type="button" id="sample-next" aria-label="Next sample" onClick={() => move(1)}>›</button>
      </span>
      {query.value !== now.facts.cls && <button type="button" id="from-cls" onClick={() => change({ query: now.facts.cls })}>Show [CLS] again</button>}
    </div>
  );
}

/** @param {Run} run @param {Sample | null} sample */
function optionText(run, sample) {
  if (!sample) return "";
  const label = sample.label === null ? "" : ` (${run.className(sample.label)})`;
  const texts = run.texts(sample);
  return `${isOwn(sample.key) ? "your sample" : sample.key}${label}: ${texts.slice(0, 12).join(" ")}${texts.length > 12 ? " …" : ""}`;
}

// The tokens.

/** Why the tokens that the reader typed are no sample; it says nothing about the next one. */
const said = signal("");
effect(() => {
  void key.value;
  void run.value;
  said.value = "";
});

/** Shows the sample of these tokens. @param {number[]} tokens without [CLS] @param {string[]} typed of each unknown token the word @param {boolean} [isStep] whether it is one of many small changes */
function showOwn(tokens, typed, isStep) {
  const now = run.peek();
  if (!now) return false;
  try {
    const own = now.own(tokens, typed);
    const same = typed.some(Boolean) ? undefined : now.samples.find((sample) => String(sample.tokens) === String(own.tokens));
    const sample = same?.key ?? own.key;
    said.value = "";
    if (sample === key.peek()) return true;
    // The back button returns to the sample before the changes, not to each of them.
    if (isStep && isOwn(key.peek())) {
      changeSoon({ sample });
      settleAddress();
    } else change({ sample });
    return true;
  } catch (error) {
    said.value = `${/** @type {Error} */ (error).message}.`;
    return false;
  }
}

function Tokens() {
  const now = /** @type {Run} */ (run.value);
  return (
    <TokenRow query={query.value} weights={weights.value} isMarked={(position) => now.marked(key.value, position)} tile={now.words ? "4.7rem" : now.positions > mostInARow() ? "2.75rem" : "2.25rem"} about={`${now.name} ${key.value} ${query.value} ${guide.value} ${isAsked.value}`} sight={isAsked.value ? 0 : decisive(now, key.value)[0]}>
      <Tiles />
    </TokenRow>
  );
}

function Tiles() {
  const now = /** @type {Run} */ (run.value);
  const sample = one.value;
  const canEdit = now.isLive && sample !== null;
  return (
    <ol class="tiles" tabIndex={now.positions > mostInARow() ? 0 : undefined} aria-label={isAsked.value ? "Tokens; choose where the model looks most" : canEdit ? "Tokens; change one to see what the model makes of it" : "Tokens"} onKeyDown={moveTile}>
      {range(now.positions).map((position) => {
        const isMarked = !isAsked.value && now.marked(key.value, position);
        const isCls = position === now.facts.cls;
        const isUnknown = Boolean(sample?.typed?.[position]);
        const name = `position ${position}${isMarked ? ", decides the label" : ""}${isUnknown ? ", unknown to this model" : ""}`;
        return (
          <li key={position} data-position={position} class={[isMarked ? "marked" : "", isUnknown ? "unknown" : "", position === query.value ? "from" : ""].join(" ").trim()}>
            {isAsked.value
              ? <button type="button" class={isCls ? "tile cls" : "tile"} onClick={() => { guess.value = position; document.getElementById("guide-next")?.focus(); }}><span class="unseen">{name}: </span><bdi>{now.tokenAt(key.value, position)}</bdi></button>
              : canEdit && !isCls
              ? <Tile key={`${key.value} ${position}`} run={now} sample={sample} position={position} name={name} />
              : <span class={isCls ? "tile cls" : "tile"}><span class="unseen">{name}: </span><bdi>{now.tokenAt(key.value, position)}</bdi></span>}
            <span class="under" aria-hidden="true">{isMarked && <b>◆</b>}{position}{isUnknown && " unknown"}</span>
            <ShareOf position={position} />
          </li>
        );
      })}
    </ol>
  );
}

/** @param {{ position: number }} props */
function ShareOf({ position }) {
  const share = weights.value[position] ?? 0;
  return <span class="share">{run.value?.isDeviation ? `±${share.toFixed(2)}` : (run.value?.positions ?? 0) > mostInARow() ? percent(share) : whole(share)}</span>;
}

/** A token that can be changed. @param {{ run: Run, sample: Sample, position: number, name: string }} props */
function Tile({ run, sample, position, name }) {
  const text = run.tokenText(sample, position);
  /** @param {number} token @param {string} word @param {boolean} isStep */
  const show = (token, word, isStep) => {
    const typed = range(run.positions).map((other) => other === position ? typedOf(run, token, word) : sample.typed?.[other] ?? "");
    return showOwn(run.withoutCls(sample.tokens.with(position, token)), run.withoutCls(typed), isStep);
  };
  /** @param {HTMLInputElement} field @param {boolean} isStep */
  const take = (field, isStep) => {
    if (field.value.trim() === text) {
      field.removeAttribute("aria-invalid");
      // The text may be about another tile.
      if (!document.querySelector("#card [aria-invalid]")) said.value = "";
      return;
    }
    let isTaken = false;
    try {
      const word = field.value.trim();
      isTaken = show(tokenOf(run, word), word, isStep);
    } catch (error) {
      said.value = `${/** @type {Error} */ (error).message}.`;
    }
    if (!isTaken) field.setAttribute("aria-invalid", "true");
    else refocus(`tile-${position}`);
  };
  /** @param {KeyboardEvent & { currentTarget: HTMLInputElement }} event */
  const step = (event) => {
    const field = event.currentTarget;
    if (event.key === "Enter") return take(field, false);
    if (event.key === "Escape") {
      field.value = text;
      field.select();
      return take(field, false);
    }
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const number = Number(sample.tokens[position]) + (by ?? 0);
    if (!by || event.altKey || event.ctrlKey || event.metaKey || number < 1) return;
    event.preventDefault();
    if (show(number, "", true)) refocus(`tile-${position}`);
  };
  /** @param {ClipboardEvent & { currentTarget: HTMLInputElement }} event */
  const paste = (event) => {
    const pasted = event.clipboardData?.getData("text") ?? "";
    if (!/\S[\s,;]+\S/.test(pasted)) return;
    event.preventDefault();
    takeText(pasted);
  };
  return (
    <input class="tile" id={`tile-${position}`} aria-label={`Token at ${name}`} aria-describedby="own-said" autocomplete="off" inputMode={Number.isNaN(Number(text)) ? "text" : "numeric"} spellcheck={false} defaultValue={text} size={1}
      onFocus={(event) => event.currentTarget.select()} onChange={(event) => take(event.currentTarget, false)} onKeyDown={step} onPaste={paste} />
  );
}

/** Another sample has other fields: the focus goes on in the same place. @param {string} id */
function refocus(id) {
  if (document.activeElement?.id === id) requestAnimationFrame(() => document.getElementById(id)?.focus());
}

/** Left and right move between tiles where the caret cannot. @param {KeyboardEvent} event */
function moveTile(event) {
  const field = /** @type {HTMLInputElement} */ (event.target);
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || field.tagName !== "INPUT" || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
  const isWhole = field.selectionStart === 0 && field.selectionEnd === field.value.length;
  const isEnd = field.selectionStart === field.selectionEnd && field.selectionStart === (by < 0 ? 0 : field.value.length);
  if (!isWhole && !isEnd) return;
  const fields = [...document.querySelectorAll("#card .tiles input")];
  const next = fields[fields.indexOf(field) + by];
  event.preventDefault();
  /** @type {HTMLElement | undefined} */ (next)?.focus();
}

/** @param {string} text */
function takeText(text) {
  const now = run.peek();
  if (!now) return;
  try {
    const { tokens, typed, left } = tokensOf(now, text);
    const isTaken = showOwn(tokens, typed, false);
    if (isTaken && left.length) said.value = `The model takes ${now.positions - 1} words: “${shorten(left.join(" "), 60)}” is left out.`;
    refocus(document.activeElement?.id ?? "");
  } catch (error) {
    said.value = `${/** @type {Error} */ (error).message}.`;
  }
}

function Paste() {
  const now = /** @type {Run} */ (run.value);
  if (!now.isLive) return null;
  const sample = one.value;
  const text = sample ? now.texts(sample).join(" ") : "";
  const form = (
    <form id="own" onSubmit={(event) => { event.preventDefault(); takeText(/** @type {HTMLInputElement} */ (document.getElementById("own-tokens")).value); }}>
      <label>All tokens <input key={key.value} id="own-tokens" autocomplete="off" spellcheck={false} defaultValue={text} aria-describedby="own-said" /></label>
      <button>Compute</button>
    </form>
  );
  return (
    <>
      {isNarrow.value ? <details><summary>Type or paste a whole sample</summary>{form}</details> : form}
      <p id="own-said" class="failed" role="alert">{said.value}</p>
    </>
  );
}

// The answer. It is spoken when the sample, a token or the step changes; while steps play, that would never end.

const spoken = computed(() => isPlaying.value ? "off" : "polite");

function Sentence() {
  const now = here.value;
  return now && <p id="sentence" aria-live={spoken.value}>{sentenceOf(now, weights.value)}</p>;
}

function Answer() {
  const now = here.value;
  if (!now) return null;
  const { run, sample, at } = now;
  const members = run.members(sample);
  const several = run.classCount > 2;
  const all = members.map((member) => run.source.results("probabilities", at, member));
  const results = all.length ? range(all[0].length).map((logit) => mean(all.map((values) => values[logit]))) : [];
  const label = labelOf(run, sample);
  return (
    <div class="answer">
      {several
        ? <Bars results={results} run={run} label={label} />
        : <Gauge value={results[0]} run={run} />}
      <p class="verdict" aria-live={spoken.value}><Verdict now={now} members={members} label={label} /></p>
      <p class="hint">{noteOf(now, members)}</p>
    </div>
  );
}

/** @param {Run} run @param {string} sample */
const labelOf = (run, sample) => run.isGroup(sample) ? run.groups[sample] : run.sample(sample)?.label ?? null;

/** @param {{ value: number, run: Run }} props */
function Gauge({ value, run }) {
  const name = `Probability of “${run.className(1)}”`;
  return (
    <div class="gauge">
      <span class="gauge-name">{run.isDeviation ? `Standard deviation: ${name.charAt(0).toLowerCase()}${name.slice(1)}` : name}</span>
      <b class="gauge-value">{fixed(value)}</b>
      <span class="track" aria-hidden="true">
        <span class="fill" style={{ width: `${100 * value}%` }} />
        {!run.isDeviation && <span class="half" />}
      </span>
    </div>
  );
}

/** @param {{ results: number[], run: Run, label: number | null }} props */
function Bars({ results, run, label }) {
  return (
    <ul class="bars" aria-label="Probability of each class">
      {results.map((value, at) => (
        <li key={at} class={at === label ? "label" : ""}>
          <span class="name"><bdi>{run.className(at)}</bdi>{at === label ? " (label)" : ""}</span>
          <span class="track" aria-hidden="true"><span class="fill" style={{ width: `${100 * value}%`, background: classColour(at, run.classCount) }} /></span>
          <b>{fixed(value)}</b>
        </li>
      ))}
    </ul>
  );
}

/** @param {{ now: NonNullable<typeof here.value>, members: Sample[], label: number | null }} props */
function Verdict({ now, members, label }) {
  const { run, at } = now;
  if (label === null) return <>Label unknown; the model answers <bdi>{run.className(run.predicted(members[0], at))}</bdi>.</>;
  const name = <bdi>{run.className(label)}</bdi>;
  const own = run.isStatistic ? runs.value : [run];
  const outcomes = members.flatMap((member) => own.map((each) => each.outcome(member, at)));
  const right = outcomes.filter((outcome) => outcome === "right").length;
  if (run.isStatistic && members.length === 1) return <>Label: {name}. The model is right in {right} of {own.length} runs.</>;
  if (outcomes.length > 1) return <>Label: {name}. Right: {right} of {outcomes.length}{run.isStatistic ? ` (${members.length} samples in ${own.length} runs)` : ""}.</>;
  const named = run.facts.classes.length > 0;
  const answer = (outcomes[0] === "wrong" || named && !right) && <>: it answers <bdi>{run.className(run.predicted(members[0], at))}</bdi></>;
  return <>Label: {name}. The model is <b class={right ? "good" : "bad"}>{{ right: "right", wrong: "wrong", missed: named ? "wrong" : "wrong: it missed this one", false: named ? "wrong" : "wrong: a false alarm", "": "" }[outcomes[0]]}{answer}</b>.</>;
}

/** @param {NonNullable<typeof here.value>} now @param {Sample[]} members */
function noteOf({ run, isWhatIf, sample }, members) {
  if (isWhatIf && !run.isLive) return "As recorded: the change ends at the weights above.";
  if (isWhatIf) return `With: ${departure.value}.`;
  const [own] = members;
  const unknown = own?.typed?.filter(Boolean) ?? [];
  const unread = unknown.length ? `Unknown to this model, which reads [UNK] instead: ${shorten(unknown.join(", "), 60)}. ` : "";
  if (run.words && isOwn(sample) && run.facts.config?.data.rule && own?.label === null) return `${unread}No sentence of the training is built like this one, so the answer may mean little.`;
  if (unread) return unread;
  const keys = decisive(run, sample);
  if (keys.length) return `◆ marks what decides the label. ${run.isLive && members.length === 1 ? "Type another token there." : ""}`;
  return "";
}

// Words: where a word's vectors lie, alone and in the sentences that hold it.

import { computed, signal } from "@preact/signals";
import { classColour } from "../draw/colour";
import { MARKERS } from "../model/described";
import { percent, range } from "../model/numbers";
import { currentForTabs } from "../state/current";
import { tokenOf } from "../model/tokens";
import { userSampleKey, type Run } from "../model/run";
import { Live } from "../sources/live";
import type { WordPlanes, WordSentences } from "../model/types";
import { baseRun, current } from "../state/state";
import { change, view } from "../state/view";
import { UNKNOWN } from "../model/words";
import "./words.css";

const SIDE = 200;
const MARGIN = 12;
// Shorter words seldom have a meaning of their own.
const LETTERS = 4;

/** The word until the reader chooses one: the one after a grammar's marker, or the word that most samples hold, a longer one if there is one. */
const usual = computed(() => {
  const now = baseRun.value;
  if (!now?.words) return "";
  const texts = now.samples.map((sample) => now.texts(sample));
  const marker = MARKERS[now.facts.config?.data.rule?.kind];
  const marked = texts.find((words) => words.includes(marker));
  if (marked) return marked[marked.indexOf(marker) + 1];
  const counts: Record<string, number> = {};
  for (const text of texts.flatMap((words) => [...new Set(words)]))
    if (tokenOf(now, text) !== UNKNOWN) counts[text] = (counts[text] ?? 0) + 1;
  const [first = ""] = Object.keys(counts).sort(
    (a, b) => Number(b.length >= LETTERS) - Number(a.length >= LETTERS) || counts[b] - counts[a],
  );
  return first;
});
const word = computed(() => view.value.word || usual.value);
// While steps play, a few times a second.
const step = computed(() => currentForTabs.value?.at ?? 0);

/** Why the typed word has no vectors. */
const inputError = signal("");

/** The occurrences of the word at the shown step; a sentence if there are none. */
const found = computed(() => {
  const now = baseRun.value;
  if (!now || !(now.source instanceof Live))
    return "A recorded run has no other sentences to look at. Its page shows them once it has trained the run again.";
  const token = tokenOf(now, word.value);
  if (token === UNKNOWN) return `The vocabulary of this run has no word “${word.value}”.`;
  const sentences = now.source.found(token);
  if (!sentences.samples.length) return `No sentence of this run holds “${word.value}”.`;
  return { sentences, planes: now.source.planes(token, Math.min(step.value, now.times.length - 1)) };
});

export function WordsTab() {
  const now = baseRun.value as Run;
  const all = found.value;
  return (
    <section id="words" aria-labelledby="words-title">
      <h2 id="words-title">The vectors of “{word.value}”</h2>
      <p class="how">
        A word has one vector of its own. Each layer adds what attention brings from the rest of the sentence, so the
        same word has a different vector in each sentence. Each dot is an occurrence, in the plane that shows the most
        of how they differ (principal components). The step above moves them, too.
      </p>
      <Field run={now} />
      {typeof all === "string" ? (
        <p class="hint">{all}</p>
      ) : (
        <>
          <Planes run={now} {...all} />
          <Sentences run={now} {...all} />
        </>
      )}
    </section>
  );
}

function Field({ run }: { run: Run }) {
  const words = run.words?.vocabulary ?? [];
  return (
    <p class="row">
      <label>
        Word{" "}
        <input
          id="word"
          list="vocabulary"
          key={word.value}
          defaultValue={word.value}
          autocomplete="off"
          spellcheck={false}
          aria-describedby="word-said"
          onChange={({ currentTarget }) => {
            const text = run.unit === "character" ? currentTarget.value : currentTarget.value.trim();
            const isKnown = text !== "" && tokenOf(run, text) !== UNKNOWN;
            inputError.value = isKnown ? "" : `“${text}” is not among the ${words.length} words of this run.`;
            if (isKnown) change({ word: text });
          }}
        />
      </label>
      <datalist id="vocabulary">
        {words.slice(0, 2000).map((text: string) => (
          <option key={text} value={text} />
        ))}
      </datalist>
      <span id="word-said" class="failed" role="alert">
        {inputError.value}
      </span>
    </p>
  );
}

/** What a reader calls a place of the model. */
const titleOf = (level: string) =>
  ({ word: "The word alone", position: "With its position" })[level] ?? `After layer ${level.replace("block_", "")}`;

type WordContexts = { run: Run; sentences: WordSentences; planes: WordPlanes & { floats: Float32Array } };

function Planes({ run, sentences, planes }: WordContexts) {
  const classes = [...new Set(sentences.labels)].sort((a, b) => a - b);
  const [shown, { all, samples }] = [planes.places.length, sentences];
  const isAsked = (is: number) => planes.places.some(([, , asked]) => asked === is);
  return (
    <>
      <ul class="plain row">
        {isAsked(1) &&
          classes.map((label) => (
            <li key={label}>
              <span style={{ color: classColour(label, run.classCount) }}>●</span> <bdi>{run.className(label)}</bdi>
            </li>
          ))}
        {isAsked(0) && <li>○ the class is not about this word</li>}
      </ul>
      <div class="planes">
        {planes.levels.map((level, index) => (
          <Plane key={level} run={run} sentences={sentences} planes={planes} index={index} title={titleOf(level)} />
        ))}
      </div>
      <p class="hint">
        {shown < all ? `The first ${shown} of ${all}` : all} occurrences, in {samples.length}{" "}
        {sentences.held_out ? "held-out" : "training"} samples. Choose a dot to look at its sentence.
      </p>
    </>
  );
}

function Plane({ run, sentences, planes, index, title }: WordContexts & { index: number; title: string }) {
  const count = planes.places.length;
  const points = planes.floats.subarray(2 * count * index, 2 * count * (index + 1));
  const most = points.reduce((found, part) => Math.max(found, Math.abs(part)), 0) || 1;
  const place = (part: number) => SIDE / 2 + (part / most) * (SIDE / 2 - MARGIN);
  const [first, second] = planes.shares[index];
  const about = first ? `${percent(first)} + ${percent(second)} of the variance` : "one point";
  return (
    <figure>
      <figcaption>
        <b>{title}</b>
        <br />
        {about}
      </figcaption>
      <svg viewBox={`0 0 ${SIDE} ${SIDE}`} role="img" aria-label={`${title}: ${count} occurrences, ${about}`}>
        <path class="rule" d={`M0 ${SIDE / 2}H${SIDE}M${SIDE / 2} 0V${SIDE}`} />
        {range(count).map((at) => {
          const [sentence, position, asked] = planes.places[at];
          const tokens = sentences.samples[sentence];
          const isShown = String(current.value?.one?.tokens) === String(tokens);
          return (
            <circle
              key={at}
              class={isShown ? "shown" : ""}
              cx={place(points[2 * at])}
              cy={SIDE - place(points[2 * at + 1])}
              r={isShown ? 6 : 4}
              fill={asked ? classColour(sentences.labels[sentence], run.classCount) : "none"}
              onClick={() => show(run, tokens)}
            >
              <title>
                {textOf(run, tokens, position)} ({run.className(sentences.labels[sentence])})
              </title>
            </circle>
          );
        })}
      </svg>
    </figure>
  );
}

/** The sentences as a list, for readers without a pointer. */
const Sentences = ({ run, sentences, planes }: WordContexts) => (
  <details>
    <summary>The sentences</summary>
    <ol class="sentences">
      {planes.places.map(([sentence, position], at) => (
        <li key={at}>
          <button type="button" class="link" onClick={() => show(run, sentences.samples[sentence])}>
            {textOf(run, sentences.samples[sentence], position)}
          </button>{" "}
          <bdi>{run.className(sentences.labels[sentence])}</bdi>
        </li>
      ))}
    </ol>
  </details>
);

/** A sentence with one of its words marked. */
function textOf(run: Run, tokens: number[], position: number) {
  const text = (token: number) => run.facts.token_strings[token] ?? String(token);
  return tokens
    .map((token, at) => (at === position ? `[${text(token)}]` : text(token)))
    .filter((_, at) => at !== run.cls && tokens[at] !== run.padding)
    .join(" ");
}

function show(run: Run, tokens: number[]) {
  const same = run.samples.find((sample) => String(sample.tokens) === String(tokens));
  change({ sample: same?.key ?? userSampleKey(run.withoutCls(tokens)) });
}

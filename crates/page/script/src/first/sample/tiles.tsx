// The tokens of the shown sample as tiles: each can be changed, and closed for all queries.

import { computed } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { fixed, joined, percent as whole, range } from "../../model/numbers";
import { change, view } from "../../state/view";
import {
  currentCaption,
  currentSampleKey,
  currentLength,
  currentQuery,
  currentSample,
  currentWeights,
  isWide,
  mostInARow,
  current10Hz,
  currentWeights10Hz,
} from "../../state/current";
import { meaningOf } from "../../draw/dom";
import { guess, awaitsGuess } from "../../state/guess";
import { decisive, percent } from "../../model/sentence";
import { Arcs } from "../../draw/arcs";
import { tokenOf, typedOf } from "../../model/tokens";
import { inputError, showUserSample, showText, withInputError } from "../../state/user-samples";
import { current, shownRun } from "../../state/state";
import { isOff, toggleKey } from "../../state/intervene";
import type { Run } from "../../model/run";
import type { Sample } from "../../model/types";

/** Whether the shown head is off. */
const isHeadOff = computed(() => (current.value ? isOff(current.value.layer, current.value.head) : false));

/** The positions at which no query may look, as text: while steps play, the tiles stay as they are. */
const closed = computed(() => String(view.value.changes.keys ?? ""));

/** Tokens in one row that scrolls, and above them bands from the query to where it looks: each ends at its own tile. */
export function Tokens() {
  const now = shownRun.value as Run;
  const row = useRef<HTMLDivElement>(null);
  const [query, weights] = [currentQuery.value, currentWeights.value];
  // What is to be seen, if not the position that gets the most.
  const deciding = decisive(now, currentSampleKey.value).toSorted((one, other) => weights[other] - weights[one]);
  const sight = awaitsGuess.value ? 0 : now.asksEach ? query : deciding[0];
  const tile = isWide() ? "4.15rem" : currentLength.value > mostInARow() ? "2.75rem" : "2.25rem";
  // What a reader has opened begins with the token that gets the most. While steps play, the row stays where it is.
  useEffect(() => {
    const box = row.current;
    if (!box || box.scrollWidth <= box.clientWidth) return;
    const width = box.scrollWidth / weights.length;
    const most = sight ?? weights.indexOf(Math.max(...weights));
    const [from, to] = [Math.min(query, most) * width, (Math.max(query, most) + 1) * width];
    if (to - from <= box.clientWidth) box.scrollLeft = Math.min(Math.max(box.scrollLeft, to - box.clientWidth), from);
    else box.scrollLeft = (most + 0.5) * width - box.clientWidth / 2;
  }, [`${now.name} ${currentSampleKey.value} ${query} ${currentCaption.value} ${awaitsGuess.value}`]);
  return (
    <div class={isHeadOff.value ? "token-row faint" : "token-row"} ref={row}>
      <div class="token-columns" style={{ "--positions": weights.length, "--tile": tile }}>
        <Arcs
          query={query}
          weights={weights}
          isMarked={(position) => now.isAlone || now.marked(currentSampleKey.value, position)}
        />
        {tiles}
      </div>
    </div>
  );
}

function Tiles() {
  const now = shownRun.value as Run;
  const sample = currentSample.value;
  const shut = closed.value.split(",");
  const how = awaitsGuess.value
    ? "; choose where the model looks most"
    : !now.isLive
      ? "; choose the query"
      : sample
        ? "; change one to see what the model makes of it"
        : "";
  return (
    <ol
      class={isWide() ? "tiles plain words" : "tiles plain"}
      tabIndex={currentLength.value > mostInARow() ? 0 : undefined}
      aria-label={`Tokens${how}`}
      onKeyDown={moveAnswer}
    >
      {range(currentLength.value).map((position) => {
        const isMarked = !awaitsGuess.value && now.marked(currentSampleKey.value, position);
        const isUnknown = Boolean(sample?.typed?.[position]);
        const isShut = shut.includes(String(position));
        const about = `position ${position}${isMarked ? ", decides the label by the rule" : ""}${isUnknown ? ", unknown to this model" : ""}`;
        const under = (
          <>
            {isMarked && <b>◆</b>}
            {position}
            {isUnknown && " ?"}
          </>
        );
        return (
          <li
            key={position}
            data-position={position}
            class={joined([
              isMarked && "marked",
              isUnknown && "unknown",
              position === currentQuery.value && "from",
              isShut && "shut",
            ])}
          >
            <Tile run={now} sample={sample} position={position} about={about} />
            {now.isLive && !awaitsGuess.value ? (
              <button
                type="button"
                class="under eye"
                aria-pressed={isShut}
                aria-label={`No query may look at position ${position}`}
                title={isShut ? "No query may look here. Open it again" : "Forbid all queries to look here"}
                onClick={() => toggleKey(position)}
              >
                {under}
                <Eye isShut={isShut} />
              </button>
            ) : (
              <span class="under" aria-hidden="true">
                {under}
              </span>
            )}
            <ShareOf position={position} />
            {sample?.each && !awaitsGuess.value && <AnswerOf position={position} />}
          </li>
        );
      })}
    </ol>
  );
}

/** A token: to guess, to change, to look at, or to look from. */
function Tile({ run, sample, position, about }: { run: Run; sample: Sample | null; position: number; about: string }) {
  const kind = position === run.cls ? "tile cls" : "tile";
  const name = run.tokenAt(currentSampleKey.value, position);
  if (run.isLive && !awaitsGuess.value && sample && position !== run.cls)
    return <Field run={run} sample={sample} position={position} about={about} />;
  if (run.isLive && !awaitsGuess.value)
    return (
      <span class={kind}>
        <span class="unseen">{about}: </span>
        <bdi>{name}</bdi>
      </span>
    );
  const choose = () => {
    if (!awaitsGuess.value) return change({ query: position });
    guess.value = position;
    document.getElementById("guide-next")?.focus();
  };
  return (
    <button
      type="button"
      class={kind}
      aria-pressed={awaitsGuess.value ? undefined : position === currentQuery.value}
      aria-label={`${about}: ${name}`}
      title={name}
      onClick={choose}
    >
      <bdi>{name}</bdi>
    </button>
  );
}

// One element for good: while steps play, nothing of the tiles is made again.
const tiles = <Tiles />;

const Eye = ({ isShut }: { isShut: boolean }) => (
  <svg viewBox="0 0 16 12" aria-hidden="true">
    <path d={`M1 6Q8 -2.5 15 6Q8 14.5 1 6ZM8 4a2 2 0 1 0 .1 0${isShut ? "M2 11.5L14 .5" : ""}`} />
  </svg>
);

function ShareOf({ position }: { position: number }) {
  const share = currentWeights10Hz.value[position] ?? 0;
  return (
    <span class="share">
      {!shownRun.value?.isShare
        ? fixed(share, 2)
        : shownRun.value.positions > mostInARow()
          ? percent(share)
          : whole(share)}
    </span>
  );
}

/** What the model answers at a position, which asks that position; nothing where no label counts. */
function AnswerOf({ position }: { position: number }) {
  const now = current10Hz.value;
  const each = now?.one?.each;
  if (!now?.one || !each) return null;
  const { run, one, at } = now;
  const [label] = each[position] ?? [null];
  if (each.length && label === null) return null;
  const answer = run.predicted({ ...one, asked: position }, at);
  const kind = label === null ? "" : answer === label ? "right" : "wrong";
  const name = `Position ${position} answers ${run.className(answer)}${kind && `, ${kind}`}${label !== null && kind === "wrong" ? `: its label is ${run.className(label)}` : ""}`;
  return (
    <button
      type="button"
      class={`answers ${kind}`}
      aria-pressed={position === currentQuery.value}
      aria-label={name}
      title={name}
      onClick={() => change({ query: position })}
    >
      <bdi>{run.shortClass(answer)}</bdi>
      {kind && (kind === "right" ? " ✓" : " ✗")}
    </button>
  );
}

/** A token that can be changed. */
function Field({ run, sample, position, about }: { run: Run; sample: Sample; position: number; about: string }) {
  const input = useRef<HTMLInputElement>(null);
  const text = run.tokenText(sample, position);
  const reset = () => {
    const field = input.current;
    if (!field) return;
    field.value = text;
    field.removeAttribute("aria-invalid");
    // The text may be about another tile.
    if (!document.querySelector("#card [aria-invalid]")) inputError.value = "";
  };
  // The field stays from sample to sample; what is typed in it stays until another sample is shown.
  useLayoutEffect(() => {
    if (input.current?.value === text) return;
    reset();
    if (document.activeElement === input.current) input.current?.select();
  }, [sample, text]);
  const take = (field: HTMLInputElement) => {
    const word = field.value.trim();
    if (word === text) return reset();
    const isTaken = withInputError(() => {
      const token = tokenOf(run, word);
      const typed = range(run.positions).map((other) => sample.typed?.[other] ?? "");
      return showUserSample(
        run.withoutCls(sample.tokens.with(position, token)),
        run.withoutCls(typed.with(position, typedOf(run, token, word))),
      );
    });
    if (!isTaken) field.setAttribute("aria-invalid", "true");
  };
  const paste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData?.getData("text") ?? "";
    if (!/\S[\s,;]+\S/.test(pasted)) return;
    event.preventDefault();
    showText(pasted);
  };
  return (
    <input
      class="tile"
      ref={input}
      id={`tile-${position}`}
      aria-label={`Token at ${about}`}
      aria-describedby="own-said"
      autocomplete="off"
      inputMode={Number.isNaN(Number(text)) ? "text" : "numeric"}
      spellcheck={false}
      size={1}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(event) => take(event.currentTarget)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === "Enter") take(currentTarget);
        if (key === "Escape") reset();
      }}
      onPaste={paste}
    />
  );
}

/** Left and right move between answers. */
function moveAnswer(event: KeyboardEvent) {
  const answers = [...document.querySelectorAll("#card .answers")] as HTMLElement[];
  const at = answers.indexOf(event.target as HTMLElement);
  const by = at < 0 ? 0 : meaningOf(event, { ArrowLeft: -1, ArrowRight: 1 });
  if (!by) return;
  answers[at + by]?.focus();
  answers[at + by]?.click();
}

// The tokens of the shown sample as tiles: each can be changed, and closed for all queries.

import { computed } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { fixed, percent as whole, range } from "../numbers.js";
import { change, view } from "../view.js";
import { paced } from "./calm.js";
import { guess, isAsked } from "./guess.js";
import { decisive, percent } from "./sentence.js";
import { guide, isWide, key, length, mostInARow, one, query, readWeights, run, weights } from "./shown-sample.js";
import { TokenRow } from "./token-row.jsx";
import { tokenOf, typedOf } from "./tokens.js";
import { said, showOwn, takeText, told } from "./typing.js";
import { here } from "../state.js";
import { isOff, toggleKey } from "./what-if.js";

/** @typedef {import("../run.js").Run} Run */
/** @typedef {import("../types").Sample} Sample */

/** Whether the shown head is off. */
const isHeadOff = computed(() => (here.value ? isOff(here.value.layer, here.value.head) : false));

/** The positions at which no query may look, as text: while steps play, the tiles stay as they are. */
const closed = computed(() => String(view.value.changes.keys ?? ""));

export function Tokens() {
  const now = /** @type {Run} */ (run.value);
  return (
    <TokenRow
      isFaint={isHeadOff.value}
      query={query.value}
      weights={weights.value}
      isMarked={(position) => now.isAlone || now.marked(key.value, position)}
      tile={isWide() ? "4.7rem" : length.value > mostInARow() ? "2.75rem" : "2.25rem"}
      about={`${now.name} ${key.value} ${query.value} ${guide.value} ${isAsked.value}`}
      sight={isAsked.value ? 0 : now.asksEach ? query.value : decisive(now, key.value)[0]}
    >
      {tiles}
    </TokenRow>
  );
}

function Tiles() {
  const now = /** @type {Run} */ (run.value);
  const sample = one.value;
  const canEdit = now.isLive && sample !== null;
  const shut = closed.value.split(",");
  return (
    <ol
      class={isWide() ? "tiles words" : "tiles"}
      tabIndex={length.value > mostInARow() ? 0 : undefined}
      aria-label={
        isAsked.value
          ? "Tokens; choose where the model looks most"
          : canEdit
            ? "Tokens; change one to see what the model makes of it"
            : now.isLive
              ? "Tokens"
              : "Tokens; choose the query"
      }
      onKeyDown={moveTile}
    >
      {range(length.value).map((position) => {
        const isMarked = !isAsked.value && now.marked(key.value, position);
        const isCls = position === now.cls;
        const isUnknown = Boolean(sample?.typed?.[position]);
        const isShut = shut.includes(String(position));
        const name = `position ${position}${isMarked ? ", decides the label" : ""}${isUnknown ? ", unknown to this model" : ""}`;
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
            class={[isMarked && "marked", isUnknown && "unknown", position === query.value && "from", isShut && "shut"]
              .filter(Boolean)
              .join(" ")}
          >
            {isAsked.value ? (
              <button
                type="button"
                class={isCls ? "tile cls" : "tile"}
                onClick={() => {
                  guess.value = position;
                  document.getElementById("guide-next")?.focus();
                }}
              >
                <span class="unseen">{name}: </span>
                <bdi>{now.tokenAt(key.value, position)}</bdi>
              </button>
            ) : canEdit && !isCls ? (
              <Tile run={now} sample={sample} position={position} name={name} />
            ) : now.isLive ? (
              <span class={isCls ? "tile cls" : "tile"}>
                <span class="unseen">{name}: </span>
                <bdi>{now.tokenAt(key.value, position)}</bdi>
              </span>
            ) : (
              <button
                type="button"
                class={isCls ? "tile cls" : "tile"}
                aria-pressed={position === query.value}
                aria-label={`${name}: ${now.tokenAt(key.value, position)}`}
                title={now.tokenAt(key.value, position)}
                onClick={() => change({ query: position })}
              >
                <bdi>{now.tokenAt(key.value, position)}</bdi>
              </button>
            )}
            {now.isLive && !isAsked.value ? (
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
            {sample?.each && !isAsked.value && <AnswerOf position={position} />}
          </li>
        );
      })}
    </ol>
  );
}

// One element for good: while steps play, nothing of the tiles is made again.
const tiles = <Tiles />;

/** @param {{ isShut: boolean }} props */
const Eye = ({ isShut }) => (
  <svg viewBox="0 0 16 12" aria-hidden="true">
    <path d={`M1 6Q8 -2.5 15 6Q8 14.5 1 6ZM8 4a2 2 0 1 0 .1 0${isShut ? "M2 11.5L14 .5" : ""}`} />
  </svg>
);

/** @param {{ position: number }} props */
function ShareOf({ position }) {
  const share = readWeights.value[position] ?? 0;
  return (
    <span class="share">
      {!run.value?.isShare ? fixed(share, 2) : run.value.positions > mostInARow() ? percent(share) : whole(share)}
    </span>
  );
}

/** What the model answers at a position, which asks that position; nothing where no label counts. @param {{ position: number }} props */
function AnswerOf({ position }) {
  const now = paced.value;
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
      aria-pressed={position === query.value}
      aria-label={name}
      title={name}
      onClick={() => change({ query: position })}
    >
      <bdi>{run.shortClass(answer)}</bdi>
      {kind && (kind === "right" ? " ✓" : " ✗")}
    </button>
  );
}

/** A token that can be changed. @param {{ run: Run, sample: Sample, position: number, name: string }} props */
function Tile({ run, sample, position, name }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const text = run.tokenText(sample, position);
  const reset = (/** @type {HTMLInputElement} */ field) => {
    field.value = text;
    field.removeAttribute("aria-invalid");
    // The text may be about another tile.
    if (!document.querySelector("#card [aria-invalid]")) said.value = "";
  };
  // The field stays from sample to sample; what is typed in it stays until another sample is shown.
  useLayoutEffect(() => {
    const field = input.current;
    if (!field || field.value === text) return;
    field.value = text;
    field.removeAttribute("aria-invalid");
    if (document.activeElement === field) field.select();
  }, [sample, text]);
  /** @param {number} token @param {string} word @param {boolean} isStep */
  const show = (token, word, isStep) => {
    const typed = range(run.positions).map((other) =>
      other === position ? typedOf(run, token, word) : (sample.typed?.[other] ?? ""),
    );
    return showOwn(run.withoutCls(sample.tokens.with(position, token)), run.withoutCls(typed), isStep);
  };
  /** @param {HTMLInputElement} field */
  const take = (field) => {
    const word = field.value.trim();
    if (word === text) return reset(field);
    if (!told(() => show(tokenOf(run, word), word, false))) field.setAttribute("aria-invalid", "true");
  };
  /** @param {KeyboardEvent & { currentTarget: HTMLInputElement }} event */
  const step = (event) => {
    const field = event.currentTarget;
    if (event.key === "Enter") return take(field);
    if (event.key === "Escape") {
      reset(field);
      return field.select();
    }
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const number = Number(sample.tokens[position]) + (by ?? 0);
    if (!by || event.altKey || event.ctrlKey || event.metaKey || number < run.firstToken) return;
    event.preventDefault();
    show(number, "", true);
  };
  /** @param {ClipboardEvent} event */
  const paste = (event) => {
    const pasted = event.clipboardData?.getData("text") ?? "";
    if (!/\S[\s,;]+\S/.test(pasted)) return;
    event.preventDefault();
    takeText(pasted);
  };
  return (
    <input
      class="tile"
      ref={input}
      id={`tile-${position}`}
      aria-label={`Token at ${name}`}
      aria-describedby="own-said"
      autocomplete="off"
      inputMode={Number.isNaN(Number(text)) ? "text" : "numeric"}
      spellcheck={false}
      size={1}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(event) => take(event.currentTarget)}
      onKeyDown={step}
      onPaste={paste}
    />
  );
}

/** Left and right move between tiles where the caret cannot, and between answers. @param {KeyboardEvent} event */
function moveTile(event) {
  const field = /** @type {HTMLInputElement} */ (event.target);
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
  if (field.matches(".answers")) {
    const answers = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#card .answers")]);
    const other = answers[answers.indexOf(field) + by];
    event.preventDefault();
    other?.focus();
    other?.click();
    return;
  }
  if (field.tagName !== "INPUT") return;
  const isWhole = field.selectionStart === 0 && field.selectionEnd === field.value.length;
  const isEnd =
    field.selectionStart === field.selectionEnd && field.selectionStart === (by < 0 ? 0 : field.value.length);
  if (!isWhole && !isEnd) return;
  const fields = [...document.querySelectorAll("#card .tiles input")];
  const next = fields[fields.indexOf(field) + by];
  event.preventDefault();
  /** @type {HTMLElement | undefined} */ (next)?.focus();
}

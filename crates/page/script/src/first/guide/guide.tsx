// The guide: captions, each of which sets the view. The first asks the reader to predict.

import { computed, effect, signal } from "@preact/signals";
import { canAsk, canTrain } from "../../state/abilities";
import { captionsOf, looksFrom } from "./captions";
import { Explained } from "../../draw/explained";
import { guess, awaitsGuess } from "../../state/guess";
import { play } from "../../state/play";
import { capital } from "../../model/sentence";
import { baseRun, shownRun } from "../../state/state";
import { change, changeSoon, settleAddress, view } from "../../state/view";
import "./guide.css";

/** The run that the captions are about: without the reader's changes. They come after all else of a run. */
const guidedRun = signal(baseRun.peek());
effect(() => {
  const run = baseRun.value;
  const timer = setTimeout(() => {
    guidedRun.value = run;
  });
  return () => clearTimeout(timer);
});
const captions = computed(() => {
  const run = guidedRun.value;
  void run?.source.arrived?.value;
  return run && !run.isAlone ? captionsOf(run) : [];
});
const at = computed(() => Math.min(view.value.guide, captions.value.length));

/** The step that a caption has set, and in which run. */
let set: { run: unknown; step: number } | null = null;

function partsOf(number: number) {
  const caption = captions.peek()[number - 1];
  if (!caption) return {};
  set = { run: guidedRun.peek(), step: caption.parts.step };
  return caption.parts;
}

/** @param number from 1; 0 closes the guide */
function open(number: number) {
  play(false);
  guess.value = null;
  // What the guide has changed in the model goes with it.
  const changes = captions.peek()[at.peek() - 1]?.parts.changes ?? {};
  change({ guide: number, ...(number ? partsOf(number) : Object.keys(changes).length ? { changes: {} } : {}) });
}

// An address that names a caption and no step means the caption's view; and when another run is shown, its captions have
// other steps.
effect(() => {
  const number = at.value;
  if (!number) {
    set = null;
    return;
  }
  const run = guidedRun.value;
  const { step } = view.peek();
  if (set ? set.run !== run && set.step === step : !Number.isFinite(step)) {
    changeSoon(partsOf(number));
    settleAddress();
  } else if (!set) set = { run, step: NaN };
});

effect(() => {
  awaitsGuess.value = Boolean(captions.value[at.value - 1]?.answerTo) && guess.value === null;
});

export function Guide() {
  const all = captions.value;
  const number = at.value;
  const caption = all[number - 1];
  const openAndFocus = (to: number) => {
    open(to);
    focusGuide();
  };
  if (!caption)
    return (
      <section id="guide" aria-label="Guide">
        <Lead />
        {all.length > 1 && (
          <button type="button" id="guide-start" onClick={() => openAndFocus(1)}>
            Show me
          </button>
        )}
      </section>
    );
  const text = caption.answerTo && guess.value !== null ? caption.answerTo(guess.value) : caption.text;
  return (
    <section id="guide" class="open" aria-label="Guide">
      <ol class="plain">
        {all.map(({ title }, index) => (
          <li key={title}>
            <button
              type="button"
              aria-current={index + 1 === number ? "step" : undefined}
              aria-label={`${index + 1}: ${title}`}
              title={title}
              onClick={() => open(index + 1)}
            >
              {index + 1}
            </button>
          </li>
        ))}
      </ol>
      <button
        type="button"
        id="guide-next"
        aria-label="Next caption"
        aria-disabled={number === all.length}
        onClick={() => number < all.length && open(number + 1)}
      >
        ›
      </button>
      <p role="status">
        <b>{caption.title}</b> <Explained text={text} />{" "}
        {caption.seeds && canTrain.value && (
          <button type="button" class="link" onClick={showSeeds}>
            See other seeds
          </button>
        )}
      </p>
      <button type="button" id="guide-close" aria-label="Close the guide" onClick={() => openAndFocus(0)}>
        ×
      </button>
    </section>
  );
}

/** The button that had the focus is gone. */
const focusGuide = () =>
  requestAnimationFrame(() => (document.querySelector("#guide-next, #guide-start") as HTMLElement | null)?.focus());

/** What is seen, and what to do next. */
function Lead() {
  const run = shownRun.value;
  const next = [
    (run?.times.length ?? 0) > 1 && "play the training",
    run?.isLive ? `edit a ${run.unit}` : "choose a sample",
    canAsk.value && "change the question",
  ].filter((text) => text !== false);
  return (
    <p id="lead">
      Arcs show where the model looks. <Explained text={baseRun.value ? looksFrom(baseRun.value) : ""} />{" "}
      {capital(new Intl.ListFormat("en-GB", { type: "disjunction" }).format(next))}.
    </p>
  );
}

function showSeeds() {
  change({ tab: "seeds" });
  document.getElementById("tab-seeds")?.scrollIntoView({ block: "start" });
  requestAnimationFrame(() => document.getElementById("train-seeds")?.focus({ preventScroll: true }));
}

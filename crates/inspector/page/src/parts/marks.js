// Marks on the charts: what happens in the training, where it can be told.

import { computed } from "@preact/signals";
import { mean } from "../numbers.js";
import { attentionOf, drawn, hasLabelPosition } from "./curves.js";
import { LOOKS } from "./sentence.js";

/** @typedef {import("../run.js").Run} Run */
/** @typedef {import("./series.js").Points} Points */
/** @typedef {{ step: number, text: string, meaning: string }} Mark */

/** @type {import("@preact/signals").ReadonlySignal<Mark[]>} */
export const marks = computed(() => {
  const run = drawn.value;
  if (!run) return [];
  const isRecorded = run.times.length <= run.last;
  /** @type {Mark[]} */
  const found = [];
  const first = startsLooking(run);
  if (first !== null) {
    const whose = run.classCount > 2 ? "samples with a label's position" : "positive samples";
    found.push({
      step: first,
      text: "starts looking",
      meaning: `the first${isRecorded ? " recorded" : ""} step at which ${run.readerName} gives the label's position more than ${LOOKS} times uniform attention in ${whose}`,
    });
  }
  const learned = learnedAt(run);
  if (learned !== null)
    found.push({
      step: learned,
      text: "page's samples right",
      meaning: `from this${isRecorded ? " recorded" : ""} step on, the model classifies all ${run.asksEach ? "positions of the samples" : "samples"} of this page correctly`,
    });
  return found;
});

/** @param {Run} run */
function startsLooking(run) {
  const keys = Object.keys(run.groups).filter(
    (key) => hasLabelPosition(run, key) && (run.classCount > 2 || run.groups[key] === 1),
  );
  const curves = keys.map((key) => attentionOf(run, key));
  if (!run.isShare || !curves.length || curves.some((curve) => !curve)) return null;
  const uniform = mean(
    keys.map((key) =>
      run.uniform(
        run.members(key).filter((sample) => run.lookedAt(sample).length),
        run.reader,
        (sample) => run.lookedAt(sample),
      ),
    ),
  );
  const at = run.times.findIndex(
    (_, at) => mean(curves.map((curve) => /** @type {Points} */ (curve)[at][1])) > LOOKS * uniform,
  );
  return at < 0 ? null : run.times[at];
}

/** @type {WeakMap<Run, number | null>} */
const learnedSteps = new WeakMap();

/** @param {Run} run @param {import("../types").Sample} sample @param {number} at */
function isRight(run, sample, at) {
  const [right, count] = run.tally(sample, at);
  return right === count;
}

/** The first step from which all samples of the page are right. @param {Run} run */
function learnedAt(run) {
  void run.source.arrived?.value;
  const known = run.samples.filter(({ label, each }) => each?.length || label !== null);
  if (!known.length || known.filter((sample) => !run.source.covers(sample)).length) return null;
  let found = learnedSteps.get(run);
  if (found === undefined) {
    let at = run.times.length;
    // The sample that was wrong last is likely to be wrong before.
    while (at > 0 && known.every((sample) => isRight(run, sample, at - 1))) at--;
    found = at < run.times.length ? run.times[at] : null;
    learnedSteps.set(run, found);
  }
  return found;
}

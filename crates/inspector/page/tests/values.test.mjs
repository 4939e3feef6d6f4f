// What the page says is a value first: no name of a run and no sentence is taken for one.

import assert from "node:assert/strict";
import test from "node:test";
import { load, openFixture } from "./page.mjs";

openFixture();
const [{ page }, state, { unpack }, { Run }, { startLive }, { captionsOf }] = await load("facts.js", "state.js", "own-numbers.js", "run.js", "own-run.js", "parts/captions.js");
await unpack();
const [run] = state.runs.value;

test("the badge of the page's numbers does not come from a sentence", () => {
  page.runs[0].again = { recorded: "Live: a reason that begins with a badge" };
  startLive();
  const { kind, badge, text } = state.origin.value;
  assert.deepEqual({ kind, badge, text }, { kind: "recorded", badge: "Recorded", text: "Live: a reason that begins with a badge." });
});

test("the guide counts the samples that are right, and decides nothing", () => {
  const end = run.times.length - 1;
  const judged = (wrong) => {
    const samples = Array.from({ length: 16 }, (_, number) => ({ ...run.facts.samples[0], label: number < 8 ? 0 : 1, number }));
    const right = (sample) => (sample.label === 1) !== (sample.index < wrong) ? 1 : -1;
    const source = { kind: "recorded", covers: () => true, allows: () => true, arrays: () => null, row: () => new Float64Array(run.positions).fill(1 / run.positions), results: (_, at, sample) => [right(sample)] };
    return captionsOf(new Run({ ...run.facts, logits: 1, classes: [], samples }, source)).map(({ text }) => text).join(" ");
  };
  assert.ok(end > 0);
  assert.match(judged(0), /All 16 samples of this page are right\./);
  assert.match(judged(1), /15 of the 16 samples of this page are right\./);
});

// What the page computes from its numbers: outcomes, addresses and colours.

import assert from "node:assert/strict";
import test from "node:test";
import { load, openFixture } from "./page.mjs";

const fixture = openFixture();
const [state, { unpack }, { runWith, interventionsFor }, numbers, views, { colours }, { page }, { startLive }] =
  await load("state/state", "state/recording", "sources/interventions", "model/numbers", "state/view", "draw/colour", "model/facts", "state/retraining");
await unpack();
const [run] = state.runs.value;

test("a recording has no changes", () => {
  const wanted = { temperature: 2, causal: true, keys: [1] };
  assert.deepEqual(interventionsFor(run, wanted), {});
  assert.equal(runWith(run, wanted), run);
});

test("a sample without a label has no outcome", () => {
  assert.deepEqual(run.samples.map((sample) => run.outcome(sample, 0)), ["right", ""]);
});

test("an address leads back to its view", () => {
  const open = (hash) => {
    location.hash = hash;
    state.openAddress();
    return views.address(views.view.value);
  };
  const parts = { run: "2", sample: "12", step: "3", query: "1", key: "2", layer: "0", head: "1", show: "scores" };
  const held = { pin: { sample: "10", step: 0, run: 0, settings: { seed: 3 }, changes: { keys: [1] } }, changes: { temperature: 2, causal: true }, set: { "model.d_ff": 8 } };
  const address = `#${new URLSearchParams({ ...parts, ...Object.fromEntries(Object.entries(held).map(([name, value]) => [name, JSON.stringify(value)])) })}`;
  assert.equal(open(address), address);
  const here = () => ({ ...state.current.value, run: undefined, one: undefined });
  open(`#run=9&sample=x&step=77&query=99&layer=7&head=7&show=no&pin={"sample":1,"step":-1}&set=[1]&changes=nonsense`);
  assert.deepEqual(here(), { ...here(), sample: "10", at: 11, query: 0, layer: 0, head: 1, show: "weights" });
  const { pin, settings, changes } = views.view.value;
  assert.deepEqual([pin, settings, changes], [null, {}, {}]);
});

test("colours and black or white text are those of the pictures", () => {
  const cells = fixture.heatmap.matchAll(/<rect fill="#(\w{6})"[^>]*><title>.*\n<text class="middle on-(\w+)"/g);
  const drawn = Array.from(cells, ([, fill, on]) => [parseInt(fill, 16), on === "light" ? "#000000" : "#ffffff"]);
  const shown = fixture.shares.map((share) => {
    const { fill, ink } = colours(share, { from: 0, to: 1, diverging: false });
    const [r, g, b] = fill.match(/\d+/g).map(Number);
    return [r * 65536 + g * 256 + b, ink];
  });
  assert.ok(drawn.length > 0);
  assert.deepEqual(shown, drawn);
});

test("text is shortened by characters, not by halves of them", () => {
  assert.equal(numbers.shorten("abcdefgh", 8), "abcdefgh");
  assert.equal(numbers.shorten("👩👩👩👩👩👩👩👩👩", 8), `${"👩".repeat(7)}…`);
});

test("the badge of the page's numbers does not come from a sentence", () => {
  page.runs[0].again = { recorded: "Live: a reason that begins with a badge" };
  startLive();
  const { kind, badge, text } = state.origin.value;
  assert.deepEqual({ kind, badge, text }, { kind: "recorded", badge: "Recorded", text: "Live: a reason that begins with a badge." });
});

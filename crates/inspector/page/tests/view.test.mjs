// What the page computes from its numbers: outcomes, addresses, colours and exports.

import assert from "node:assert/strict";
import test from "node:test";
import { difference, load, openFixture } from "./page.mjs";

const fixture = openFixture();
const [state, { unpack }, { changedRun, changesFor }, numbers, views, { colours }, { jsonOf, matrixCsvOf }, { panelOf }] =
  await load("state.js", "own-numbers.js", "changes.js", "numbers.js", "view.js", "colour.js", "parts/export.js", "parts/matrices.js");
await unpack();
const [run] = state.runs.value;
const [sample] = run.samples;
const P = run.positions;

test("a recording has no changes", () => {
  const wanted = { temperature: 2, causal: true, keys: [1] };
  assert.deepEqual(changesFor(run, wanted), {});
  assert.equal(changedRun(run, wanted), run);
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
  const here = () => ({ ...state.here.value, run: undefined, one: undefined });
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

test("exports hold the matrix in view", () => {
  const place = { run, base: run, sample: "10", at: 3, layer: 0, head: 0, show: "weights", settings: {}, changes: {}, changesText: "" };
  const panels = [panelOf("now", place)];
  const [head, ...lines] = matrixCsvOf(panels).trimEnd().split("\n");
  assert.match(head, /^panel,run,sample,step,layer,head,show,.*,query,query_token,key,key_token,value$/);
  const weights = fixture.runs[0][3].weights.slice(0, P * P);
  const isMasked = (cell) => cell % P > Math.floor(cell / P);
  assert.deepEqual(lines.map((line) => line.split(",").at(-1)), weights.map((weight, cell) => isMasked(cell) ? "" : String(Number(weight.toPrecision(9)))));
  assert.ok(lines[1].includes(',"[CLS]",1,"</script><script>alert(1)</script>",'), lines[1]);
  const [panel] = JSON.parse(jsonOf(panels)).panels;
  const values = weights.map((weight, cell) => isMasked(cell) ? null : weight);
  assert.deepEqual([panel.values.flat(), panel.label_positions, panel.step], [values, [2], 3]);
});

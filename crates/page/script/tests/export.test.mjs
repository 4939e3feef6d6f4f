import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./page.mjs";
import { runOf } from "./runs.mjs";

// `colour.ts` takes its stops from the page's facts.
globalThis.document = { getElementById: () => ({ textContent: JSON.stringify({ viridis: [[68, 1, 84], [33, 145, 140], [253, 231, 37]] }) }) };
const [{ fileName, inName, matrixCsvOf, matrixJsonOf }, { apart, brief, differenceOf, extent, fitting, panelOf, titleOf }] = await load("first/headline/export", "draw/matrices");

const HOSTILE = '"</text>,<script>&\u0007\ud800';

/** A run of two positions, whose second key is forbidden to the first query. */
const weighted = (weights, seed = 0) => runOf(
  { name: "a/run", seed, positions: 2, steps: [0, 900], token_strings: { 0: "[CLS]", 1: HOSTILE }, samples: [{ number: 10, label: 1, tokens: [0, 1], marked: [1] }] },
  { row: (name, at, sample, layer, head, query) => Float64Array.from(weights.slice(2 * query, 2 * query + 2)), allows: (sample, query, key) => key <= query },
);
const run = weighted([1, 0, 0.25, 0.75]);

const place = (run, parts = {}) => ({ run, base: run, sample: "10", at: 1, layer: 0, head: 0, show: "weights", settings: {}, changes: {}, changesText: "", ...parts });
const scale = { from: 0, to: 1, diverging: false, name: "weight" };
const shown = () => ({ ...panelOf("now", place(run)), scale });

test("a title names all that is shown, and what departs from the run", () => {
  assert.equal(titleOf(place(run)), "a/run (seed 0) · attention weights · sample 10 · step 900 · layer 0 · head 0");
  const departed = place(run, { changesText: "causal mask", settings: { "model.d_model": 16 } });
  assert.ok(titleOf(departed).startsWith("INTERVENTION causal mask · EXPERIMENT d_model 16 · a/run (seed 0) · "));
});

test("a file's name names it too, with letters that every system takes", () => {
  assert.equal(fileName([shown()], "svg"), "attention-a-run-seed-0-sample-10-step-900-layer-0-head-0-weights.svg");
  const departed = { ...shown(), place: place(run, { settings: { "data.rule": { kind: "../x", token: 4 } }, changesText: "temperature × 2.00" }) };
  assert.equal(fileName([departed], "csv"), "attention-a-run-seed-0-sample-10-step-900-with-rule-.-x-4-temperature-2.00-layer-0-head-0-weights.csv");
  const long = { ...shown(), place: place(run, { changesText: "x ".repeat(300), sample: "own-1-2" }) };
  assert.ok(fileName([long, long], "json").length <= 205);
  assert.equal(inName("../../é:\u202e*"), "e");
});

test("a difference is signed, and a forbidden score has none", () => {
  const [now, pinned] = [shown(), panelOf("pinned", place(weighted([1, 0, 0.5, 0.5], 1)))];
  const difference = differenceOf(now, pinned);
  assert.deepEqual([...difference.cells], [0, 0, -0.25, 0.25]);
  assert.deepEqual([...difference.forbidden], [0, 1, 0, 0]);
  const free = { ...pinned, forbidden: null };
  assert.equal(differenceOf(now, free).forbidden, null);
  assert.deepEqual([...differenceOf({ ...now, show: "scores" }, free).forbidden], [0, 1, 0, 0]);
  assert.deepEqual(extent([now]), [0.25, 1]);
  assert.equal(apart(now, pinned), "");
  assert.match(apart(now, { ...pinned, positions: 3 }), /one has 2 positions, the other 3/);
});

test("CSV and JSON have each cell, and none for a forbidden one", () => {
  const lines = matrixCsvOf([shown()]).trimEnd().split("\n");
  assert.equal(lines[0], "panel,run,sample,step,layer,head,show,experiment_and_interventions,query,query_token,key,key_token,value");
  assert.equal(lines.length, 5);
  assert.equal(lines[1], 'now,"a/run (seed 0)","10",900,0,0,weights,"",0,"[CLS]",0,"[CLS]",1');
  assert.ok(lines[2].endsWith(`,1,"""</text>,<script>&\u0007\ud800",`));
  const panel = { ...shown(), place: place(run, { changes: { temperature: 2 }, changesText: "temperature × 2.00", settings: { seed: 3 } }) };
  const { panels: [json] } = JSON.parse(matrixJsonOf([panel]));
  assert.deepEqual(json.values, [[1, null], [0.25, 0.75]]);
  assert.deepEqual([json.interventions, json.settings, json.label_positions], [{ temperature: 2 }, { seed: 3 }, [1]]);
});

test("numbers fit their cells", () => {
  assert.deepEqual([0.5688, -0.5688, 0.001, -0.004, 0.996, -1.26, 12.3].map(brief), [".57", "-.57", "0", "0", "1.0", "-1.3", "12"]);
  assert.equal(fitting(79, 16).level, "long");
  assert.equal(fitting(36, 16).level, "short");
  assert.deepEqual(fitting(22, 16), { level: "brief", size: 11 });
  assert.ok(fitting(79, 32).level !== "long");
});

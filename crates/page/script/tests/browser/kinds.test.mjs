// Pages of all kinds: recordings, runs that differ, long ones, several in one page, answers per position, attention alone, worked examples.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { checkLook, headlight, open, openLive, place, settled, show, texts, train } from "./browser.mjs";

const SHORT = ["data.samples=400", "data.held_out=50", "training.epochs=1", "dump.every_steps=5"];

test("a run of another engine stays recorded, and nothing in its page needs one", async (t) => {
  const run = train("burn", "notebook", ...SHORT, "dump.every_steps=1", "compute.engine=burn");
  const page = await open(t, run.page, { hash: '#sample=10&changes={"causal":true,"temperature":2}' });
  assert.equal(await settled(page), "recorded");
  assert.deepEqual(await texts(page, "[role=tab]"), ["Explore", "Evidence"]);
  assert.match(await page.textContent("#experiment-state"), /this recording cannot have it: temperature × 2\.00, causal mask/);
  await page.click("#card .tiles li:nth-child(3) button");
  assert.equal(await page.evaluate(() => globalThis.headlight.view.value.query), 2);
  await show(page, { step: 5, changes: {} });
  await page.waitForFunction(() => document.querySelector("#walk")?.textContent.includes("Vectors are recorded for steps 0 and 25."));
  await page.click("#walk button");
  await page.click(".stages li:first-child button");
  assert.doesNotMatch(await page.textContent("#walk"), /NaN|undefined|Infinity/);
  await checkLook(page);
});

test("other weights than the run's are said, and the recording stays", async (t) => {
  const run = train("changed", "notebook", ...SHORT);
  writeFileSync(run.page, readFileSync(run.page, "utf8").replaceAll(run.hash, "0".repeat(64)));
  const page = await open(t, run.page);
  assert.equal(await settled(page), "differs");
  assert.equal(await page.evaluate(() => globalThis.headlight.shown.value.isLive), false);
  await page.click("#tab-evidence");
  assert.deepEqual((await texts(page, "#evidence dt:text('SHA-256 of') + dd")).slice(0, 2), ["0".repeat(64), `${run.hash} (different)`]);
});

test("a long training waits for the reader, and can be stopped", async (t) => {
  const run = train("long", "notebook", "training.epochs=200", "dump.every_epochs=100");
  const page = await open(t, run.page);
  await page.click("#origin button:text('Train it')");
  await page.click("#origin button:text('Stop')");
  assert.equal(await settled(page), "recorded");
});

test("several runs stand in one page, and can be compared", async (t) => {
  for (const seed of [1, 2]) train(`seed-${seed}`, "notebook", ...SHORT, `seed=${seed}`);
  headlight("inspect", "seed-1", "seed-2", "--html", "both.html");
  const page = await open(t, place("both.html"), { hash: "#sample=10&step=25" });
  const grid = async (name) => (await texts(page, `#grid-${name} td[role=gridcell]`)).map(Number);
  const first = await grid("now");
  await page.click("#pin");
  await page.selectOption("#run", { label: "seed-2 (seed 2)" });
  assert.match(page.url(), /run=1/);
  const [second, difference] = [await grid("now"), await grid("difference")];
  assert.notDeepEqual(first, second);
  assert.ok(difference.every((value, at) => Math.abs(value - (second[at] - first[at])) < 1.01e-4));
  await checkLook(page);
});

test("a model that answers at each position is asked at one of them", async (t) => {
  writeFileSync(place("histogram.toml"), `seed = 0
data = { task = "token-classification", generator = "chacha", samples = 400, held_out = 100, vocab_size = 8, seq_len = 7, n_classes = 8, rule = { kind = "histogram" } }
model = { d_model = 16, n_heads = 2, n_layers = 2, d_ff = 16 }
training = { epochs = 3, batch_size = 16, learning_rate = 3e-3 }
`);
  const run = train("histogram", "histogram.toml");
  const page = await openLive(t, run.page);
  const tokens = "1 2 2 3 1 5 2";
  await page.fill("#own-tokens", tokens);
  await page.press("#own-tokens", "Enter");
  const { predicted } = JSON.parse(headlight("predict", "histogram", "--tokens", tokens, "--json"));
  const [answers, labels] = await page.evaluate(() => {
    const { run, one, at } = globalThis.headlight.here.value;
    return [one.each.map((_, asked) => run.predicted({ ...one, asked }, at)), one.each.map(([label]) => label)];
  });
  assert.deepEqual(answers.slice(-7), predicted.slice(-7).map(({ predicted }) => predicted));
  assert.deepEqual(labels.slice(-7), [2, 3, 3, 1, 2, 1, 3]);
  await page.locator("#card .answers").first().press("Enter");
  const query = await page.evaluate(() => globalThis.headlight.here.value.query);
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.evaluate(() => globalThis.headlight.here.value.query), query + 1);
  await checkLook(page);
});

test("without [CLS] no text speaks of it", async (t) => {
  headlight("lab", "grokking", "--set", "training.steps=12", "--html", "grokking.html");
  const page = await openLive(t, place("grokking.html"));
  for (const tab of ["explore", "experiment", "seeds", "evidence"]) {
    await page.click(`#tab-${tab}`);
    const text = await page.evaluate(() => {
      const main = document.querySelector("main").cloneNode(true);
      for (const element of main.querySelectorAll("label:has(#set-data-cls), option")) element.remove();
      return main.textContent;
    });
    assert.ok(!text.includes("[CLS]"), text.slice(Math.max(0, text.indexOf("[CLS]") - 100)).slice(0, 300));
  }
});

test("attention from anywhere has its tokens, its numbers, and no training", async (t) => {
  const { attention } = JSON.parse(readFileSync(process.env.PAGE_FIXTURE, "utf8"));
  writeFileSync(place("attention.html"), attention);
  const page = await open(t, place("attention.html"));
  assert.deepEqual(await texts(page, "#card .tile"), ["<b>", "two"]);
  assert.equal(await page.evaluate(() => globalThis.headlight.here.value.query), 1);
  assert.deepEqual(await texts(page, "#grid-now td[role=gridcell]"), ["1.0000", "", "0.2500", "0.7500"]);
  assert.equal(await page.locator("#time, [role=tab], .answer, #guide").count(), 0);
  await page.click("#card .tiles li:first-child button");
  assert.equal(await page.evaluate(() => globalThis.headlight.view.value.query), 0);
  await checkLook(page);
});

test("a worked example is walked through a step at a time", async (t) => {
  headlight("walkthrough", "she-did-not", "--html", "walk.html");
  const page = await open(t, place("walk.html"));
  const titles = await texts(page, ".stages button");
  for (let stage = 1; stage < titles.length; stage++) {
    if (stage > 1) await page.click("#stage-next");
    assert.match(await page.textContent("#walk .stage h3"), new RegExp(`^${stage} of ${titles.length - 1}: `));
  }
  await page.selectOption("#query", { index: 1 });
  await page.click(".stages li:first-child button");
  assert.equal(await page.locator("#walk .stage").count(), titles.length - 1);
  await checkLook(page);
});

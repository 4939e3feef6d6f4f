// What a reader does beyond looking: other trainings, other computations, many seeds, samples of their own, and files to take.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { checkLook, experiment, hashOf, headlight, openLive, paste, place, save, settled, show, texts, train } from "./browser.mjs";

const run = train("notebook", "notebook");
const CSV = `label,token_0,token_1,token_2,token_3,split
spam,7,3,9,,train
ham,2,5,,,train
spam,4,7,1,8,train
ham,1,2,6,3,train
ham,8,8,4,,train
spam,5,7,,,train
ham,3,9,1,,test
spam,7,7,2,6,test
`;

test("an experiment has the weights of `headlight train`, and its address leads back", async (t) => {
  const page = await openLive(t, run.page);
  const { hash } = train("other", "notebook", "seed=5", "model.d_model=12", "model.n_heads=2");
  assert.equal(await experiment(page, { seed: 5, "model.d_model": 12, "model.n_heads": 2 }), hash);
  assert.match(await page.textContent("#grid-now caption"), /seed 5/);
  assert.equal(await page.locator("#evidence > p").count(), 0, "how the page's own model came about stands below its name");
  const again = await openLive(t, run.page, { hash: new URL(page.url()).hash });
  assert.equal(await again.locator("#departure-title ~ dl dd").first().textContent(), hash);
  await show(again, { settings: { "model.n_heads": 3 }, tab: "experiment" });
  assert.match(await again.textContent("#settings .failed"), /n_heads/);
});

test("controls change the model, and a wrong choice is named", async (t) => {
  const page = await openLive(t, run.page);
  await page.click("#tab-experiment");
  for (const summary of await page.locator(".settings-group > summary").all()) await summary.click();
  await page.selectOption("#set-model-norm", "pre");
  await page.selectOption("#set-training-optimizer", "adamw");
  await page.selectOption("#set-training-dropout-preset", "pytorch");
  await page.waitForFunction(() => document.querySelector("#experiment-state .badge")?.textContent === "Experiment");
  assert.match(await page.textContent("#experiment-state"), /norm pre, optimizer adamw, dropout\.preset pytorch/);
  await page.fill("#set-training-momentum", "0.9");
  await page.press("#set-training-momentum", "Enter");
  await page.waitForSelector("#settings .failed");
  assert.match(await page.textContent("#settings .failed"), /Momentum/);
  await checkLook(page, "#experiment");
});

test("a closed position and a head that is off change the answer, and their end takes it back", async (t) => {
  const page = await openLive(t, run.page, { hash: "#sample=10" });
  const value = () => page.textContent(".gauge-value");
  const before = await value();
  await page.click("#card li[data-position='3'] .eye");
  const without = JSON.parse(headlight("predict", "notebook", "--tokens", "16 5 42 43 32 2", "--without-position", "3", "--json"));
  assert.ok((await value()).endsWith(without.probabilities[0].toFixed(4)), await value());
  assert.match(await page.textContent("#grid-now caption"), /^INTERVENTION without position 3/);
  await page.click("#head-switch");
  await page.click("#back-to-run");
  assert.equal(await value(), before);
});

test("200 seeds are those of a sweep", async (t) => {
  const page = await openLive(t, run.page);
  headlight("sweep", "--seeds", "0..200", "--out", "seeds.jsonl");
  const rows = readFileSync(place("seeds.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const learned = rows.filter((row) => row.held_out_f1 >= 0.99).map((row) => [row.attention_positive[3], row.attention_negative[3]]);
  const count = (is) => learned.filter(is).length;
  const [away, too, more] = [count(([positive]) => positive < 1 / 7), count(([, negative]) => negative > 1 / 7), count(([positive, negative]) => negative > positive)];
  await page.click("#tab-seeds");
  await page.click("#train-seeds");
  await page.waitForFunction(() => /of 200 seeds learned/.test(document.querySelector("#swarm-sum")?.textContent ?? "") && !document.querySelector("#stop-seeds"), null, { timeout: 60_000 });
  const said = await page.textContent("#swarm-sum");
  const [, ...found] = said.match(/(\d+) of (\d+) seeds learned.*?(\d+) of these look at .*? (\d+|None) looks? away\. (\d+) look there .*?(\d+|none) of them more/);
  assert.deepEqual(found.map((word) => Number(word) || 0), [learned.length, 200, learned.length - away, away, too, more], said);
});

test("own samples: what is saved gives the same weights at the command line, and the page as a file keeps them", async (t) => {
  const page = await openLive(t, run.page);
  await page.click("#tab-experiment");
  await paste(page, CSV.replace("7,3,9", "7,x,9"));
  await page.waitForFunction(() => /Line 2.*“x”/.test(document.getElementById("own-csv-said")?.textContent));
  await paste(page, CSV);
  await page.waitForFunction(() => globalThis.headlight.here.value.run.facts.name === "experiment");
  await page.click("#save");
  const [config, data, model, file] = [await save(page, "#save-config"), await save(page, "#save-data"), await save(page, "#save-model"), await save(page, "#save-page")];
  for (const { name, bytes } of [config, data]) writeFileSync(place(name), bytes);
  assert.equal(train("taken", "config.toml").hash, hashOf(model.bytes));
  writeFileSync(place("kept.html"), file.bytes);
  const kept = await openLive(t, place("kept.html"));
  await kept.waitForFunction(() => globalThis.headlight.here.value.run.facts.name === "experiment", null, { timeout: 30_000 });
  assert.deepEqual(await texts(kept, "#card .share"), await texts(page, "#card .share"));
  // Other samples are another training, whatever the page holds already.
  await show(kept, { tab: "experiment" });
  await paste(kept, CSV.replace("7,3,9", "7,3,2"));
  await kept.waitForFunction(() => globalThis.headlight.here.value.run.facts.config.data.file === "2-pasted.csv");
});

test("all that a reader can save stands in one dialog", async (t) => {
  const page = await openLive(t, run.page, { hash: "#sample=10" });
  await page.focus("#save");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#save-dialog[open]");
  assert.match(await page.textContent("#save-local"), /only on this computer/);
  assert.deepEqual(await page.locator("#save-dialog li button").evaluateAll((all) => all.map(({ id }) => id.slice(5))), ["address", "page", "svg", "png", "csv", "json", "config", "model"]);
  await checkLook(page, "#save-dialog");
  const shown = (await texts(page, "#grid-now td[role=gridcell]")).map(Number);
  const csv = (await save(page, "#save-csv")).bytes.toString().trim().split("\n").slice(1).map((line) => Number(line.slice(line.lastIndexOf(",") + 1)));
  const json = JSON.parse((await save(page, "#save-json")).bytes.toString()).panels[0].values.flat();
  for (const values of [csv, json]) assert.ok(values.every((value, at) => Math.abs(value - shown[at]) < 0.51e-4));
  const svg = (await save(page, "#save-svg")).bytes.toString();
  assert.ok(shown.every((value) => svg.includes(`>${value.toFixed(4)}</text>`)));
  assert.ok((await save(page, "#save-png")).bytes.subarray(1, 4).equals(Buffer.from("PNG")));
  assert.match(await page.textContent("#save-png-text"), /^Saved attention-.*\.png$/);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.id === "save");
});

test("a page without a run trains its experiment", async (t) => {
  headlight("lab", "count", "--html", "count.html");
  const page = await openLive(t, place("count.html"));
  await page.click("#tab-evidence");
  assert.equal((await texts(page, "#evidence dt:text('SHA-256 of') + dd"))[0], train("count", "count").hash);
  assert.equal(await settled(page), "live");
});

// The page of the notebook's run: what a reader sees, and does with it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkLook, headlight, open, openLive, settled, show, texts, train } from "./browser.mjs";

const run = train("notebook", "notebook");

test("the page trains the run again, to the same weights", async (t) => {
  const page = await openLive(t, run.page);
  await page.click("#tab-evidence");
  const hashes = await texts(page, "#evidence dt:text('SHA-256 of') + dd");
  assert.deepEqual(hashes.slice(0, 2), [run.hash, `${run.hash} (the same)`]);
  assert.equal(await page.evaluate(() => globalThis.headlight.shown.value.times.length), 1501);
  assert.match(await page.textContent("#verdict"), /^Learned: held-out F1 1\.000/);
});

test("the first sight begins with the question, and needs no scrolling", async (t) => {
  const page = await openLive(t, run.page);
  assert.match(await page.textContent("h1"), /is token 42 at position 3\?/);
  const bottoms = await page.locator("#card, #attention, #time").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().bottom));
  assert.ok(Math.max(...bottoms) <= 800, String(bottoms));
});

test("it fits phones and wide screens, and axe finds nothing", async (t) => {
  const page = await openLive(t, run.page);
  for (const tab of ["explore", "experiment", "seeds", "evidence"]) {
    await page.click(`#tab-${tab}`);
    await checkLook(page);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok(await page.isVisible("#grid-now th[scope=col] bdi"));
  await checkLook(page);
});

test("each band ends at its own tile", async (t) => {
  const page = await openLive(t, run.page);
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const apart = await page.locator("#card .band").evaluateAll((bands) => bands.map((band) => {
      const key = Number(band.dataset.key);
      const tile = document.querySelector(`#card [data-position='${key}']`).getBoundingClientRect();
      // The outline has two ends upon the tiles, each with two corners.
      const numbers = band.getAttribute("d").match(/[-\d.]+/g).map(Number);
      const feet = [(numbers[0] + numbers[13]) / 2, (numbers[6] + numbers[8]) / 2];
      return Math.min(...feet.map((foot) => Math.abs(new DOMPoint(foot, 0).matrixTransform(band.getScreenCTM()).x - (tile.left + tile.right) / 2)));
    }));
    assert.ok(apart.length === 7 && Math.max(...apart) < 2, `${width}: ${apart}`);
  }
});

test("it plays, and the address follows", async (t) => {
  const page = await openLive(t, run.page, { hash: "#step=899" });
  await page.waitForFunction(() => document.querySelector("#now")?.textContent === "step 899");
  await page.click("#play");
  await page.waitForFunction(() => document.querySelector("#now")?.textContent === "step 1500", null, { timeout: 30_000 });
  await page.click("#sample-next");
  assert.doesNotMatch(page.url(), /sample=10&/);
  await page.goBack();
  assert.match(await page.textContent("#what"), /^Sample 10\./);
});

test("the matrix moves with the arrow keys, and stands beside a pinned one", async (t) => {
  const page = await openLive(t, run.page, { hash: "#sample=10&step=1500&query=0&key=3" });
  const cell = page.locator("#grid-now td[tabindex='0']");
  assert.equal(await cell.getAttribute("aria-label"), `query 0: [CLS], key 3: 42, ${await cell.textContent()}`);
  await cell.press("ArrowDown");
  assert.match(page.url(), /query=1&key=3/);
  const before = (await texts(page, "#grid-now td[role=gridcell]")).map(Number);
  await page.click("#pin");
  await show(page, { step: 0 });
  const [now, difference] = await Promise.all(["now", "difference"].map(async (name) => (await texts(page, `#grid-${name} td[role=gridcell]`)).map(Number)));
  assert.ok(difference.every((value, at) => Math.abs(value - (now[at] - before[at])) < 1.01e-4));
});

test("a sample of the reader has the answer of `headlight predict`", async (t) => {
  const page = await openLive(t, run.page);
  const type = async (text) => {
    await page.fill("#own-tokens", text);
    await page.press("#own-tokens", "Enter");
    return page.textContent("#own-said");
  };
  for (const [text, word] of [["1 2 3", "6 tokens"], ["1 2 x 4 5 6", "x"], ["1 2 3 4 5 99", "99"], ["0 1 2 3 4 5", "[CLS]"]]) assert.ok((await type(text)).includes(word), text);
  const tokens = "1 2 42 9 42 7";
  assert.equal(await type(tokens), "");
  const { probabilities, attention_of_readout: attention } = JSON.parse(headlight("predict", "notebook", "--tokens", tokens, "--json"));
  const shown = () => page.evaluate(() => {
    const { run, one, at } = globalThis.headlight.here.value;
    return [...run.source.results("probabilities", at, one), ...run.source.row("weights", at, one, 0, 0, 0)];
  });
  const expected = [probabilities[0], ...attention[0][0]];
  assert.ok((await shown()).every((value, at) => Math.abs(value - expected[at]) < 1e-6));
  const again = await openLive(t, run.page, { hash: `${new URL(page.url()).hash}&step=700` });
  await again.waitForFunction(() => document.querySelector("#what")?.textContent.startsWith("Your sample"));
  assert.equal(await again.textContent("#now"), "step 700");
});

test("a reader walks through the computation, a stage at a time or all at once", async (t) => {
  const page = await openLive(t, run.page);
  const count = (await texts(page, ".stages button")).length - 1;
  for (let stage = 1; stage <= count; stage++) {
    assert.match(await page.textContent("#walk h3"), new RegExp(`^${stage} of ${count}: `));
    if (stage < count) await page.click("#stage-next");
  }
  await page.click(".stages li:first-child button");
  assert.equal(await page.locator("#walk .stage").count(), count);
  const checks = await texts(page, "#walk .check");
  assert.ok(checks.length > 5 && checks.every((text) => /^Largest difference from the engine's numbers: [\de.-]+\.$/.test(text)), String(checks));
  assert.equal(await page.locator("#walk .check.failed").count(), 0);
  await page.focus(".stages [aria-current]");
  await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent("#walk h3"), /^1 of /);
  assert.ok(await page.locator(".stages [aria-current]").evaluate((button) => button === document.activeElement));
});

test("without WebAssembly the page shows the recording, and says so", async (t) => {
  const page = await open(t, run.page, { before: "delete globalThis.WebAssembly" });
  assert.equal(await settled(page), "recorded");
  assert.match(await page.textContent("#origin"), /no WebAssembly/);
  assert.deepEqual(await texts(page, "[role=tab]"), ["Explore", "Evidence"]);
});

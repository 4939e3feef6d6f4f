// The page of a run with the keyboard alone. Whatever has the focus must show it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openLive, train } from "./browser.mjs";

const run = train("notebook", "notebook");
// A page of seven tokens has fewer stops.
const MOST_STOPS = 140;

test("the guide, a tile, the matrix, playing, an experiment, a head left out, the seeds", async (t) => {
  const page = await openLive(t, run.page);
  const { keyboard } = page;
  const isFocused = (selector) => page.evaluate((selector) => document.activeElement?.matches(selector) ?? false, selector);
  const has = (script) => page.waitForFunction(script, null, { timeout: 60_000 });
  const go = async (selector, key = "Tab") => {
    for (let stop = 0; !(await isFocused(selector)); stop++) {
      assert.ok(stop < MOST_STOPS, `the keyboard does not reach ${selector}`);
      await keyboard.press(key);
    }
    // The focused element, or one around it, has a visible outline or shadow.
    const isSeen = await page.evaluate(() => {
      for (let element = document.activeElement, up = 0; element && up < 3; up++, element = element.parentElement) {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
        if ((outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none") return true;
      }
      return false;
    });
    assert.ok(isSeen, `${selector} does not show its focus`);
  };

  await go("#guide-start");
  await keyboard.press("Enter");
  await has(() => document.activeElement?.id === "guide-next");
  const visibility = () => page.locator(".arcs").evaluate((arcs) => getComputedStyle(arcs).visibility);
  assert.equal(await visibility(), "hidden", "the answer is hidden before the guess");
  await go("#card .tiles li:nth-child(4) button");
  await keyboard.press("Enter");
  await has(() => document.activeElement?.id === "guide-next");
  assert.equal(await visibility(), "visible");
  assert.match(await page.textContent("#guide p"), /%/);
  const steps = new Set();
  for (const _ of await page.locator("#guide ol button").all()) {
    const { step, keys = [] } = await page.evaluate(() => ({ step: globalThis.headlight.here.value.step, keys: globalThis.headlight.view.value.changes.keys }));
    steps.add(step);
    assert.ok(keys.length < 2, "positions are taken away one at a time");
    assert.ok(await isFocused("#guide-next"));
    await keyboard.press("Enter");
  }
  assert.ok(steps.size > 2);
  await go("#guide-close");
  await keyboard.press("Space");
  await has(() => document.activeElement?.id === "guide-start");

  await go("#sample-next");
  await keyboard.press("Enter");
  await go("#tile-2");
  await keyboard.type("9");
  await keyboard.press("Enter");
  await has(() => globalThis.headlight.here.value.one?.tokens[2] === 9);
  await go("#grid-now td[tabindex='0']");
  const query = await page.evaluate(() => globalThis.headlight.here.value.query);
  await keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => globalThis.headlight.view.value.query), query + 1);

  await go("#play");
  await keyboard.press("Space");
  await has(() => document.querySelector("#play")?.textContent === "Pause" && globalThis.headlight.here.value.step > 0);
  await keyboard.press("Space");
  await has(() => document.querySelector("#play")?.textContent === "Play");
  await go("#slider");
  await keyboard.press("End");
  await has(() => globalThis.headlight.here.value.step === 1500);

  await go("[role=tab]");
  await keyboard.press("ArrowRight");
  assert.ok(await isFocused("#tab-experiment"));
  await go("#settings input[type=number]");
  await keyboard.press("Control+a");
  await keyboard.type("0.003");
  await keyboard.press("Enter");
  await has(() => globalThis.headlight.here.value.run.facts.config?.training.learning_rate === 0.003);
  assert.ok(await isFocused("#settings input[type=number]"));
  await go("#head-switch", "Shift+Tab");
  await keyboard.press("Space");
  await has(() => globalThis.headlight.view.value.changes.heads?.length === 1);
  assert.ok(await isFocused("#head-switch"));
  await go(".tiles .eye", "Shift+Tab");
  await keyboard.press("Space");
  await has(() => globalThis.headlight.view.value.changes.keys?.length === 1 && document.querySelector(".gauge .was"));
  assert.ok(await isFocused(".tiles .eye[aria-pressed=true]"));
  await go("#back-to-run", "Shift+Tab");
  await keyboard.press("Enter");
  await has(() => !globalThis.headlight.here.value.isWhatIf && Object.keys(globalThis.headlight.view.value.settings).length === 0);

  await go("[role=tab]");
  await keyboard.press("ArrowRight");
  await go("#train-seeds");
  await keyboard.press("Enter");
  await has(() => /of 200 seeds/.test(document.querySelector("#swarm-sum")?.textContent ?? "") && !document.querySelector("#stop-seeds"));
  // The dots are a picture; its table has the same seeds.
  await go(".seed-table summary");
  await keyboard.press("Enter");
  await go(".seed-table tbody tr:nth-child(3) button");
  await keyboard.press("Enter");
  await has(() => globalThis.headlight.here.value.run.facts.seed === 2);
});

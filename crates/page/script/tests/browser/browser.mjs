// Pages of the program in Debian's Chromium. `HEADLIGHT` names another binary than that of the release build.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const program = resolve(root, process.env.HEADLIGHT ?? "target/release/headlight");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const folder = mkdtempSync(join(tmpdir(), "headlight-"));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** A place in this test's folder. @param {string} name */
export const place = (name) => join(folder, name);

/** What the program prints. @param {string[]} words */
export const headlight = (...words) => execFileSync(program, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** Settings as flags. @param {string[]} sets */
export const flags = (...sets) => sets.flatMap((set) => ["--set", set]);

/** Trains a run, and returns its page and the hash of its weights. @param {string} name @param {string} config @param {string[]} sets */
export function train(name, config, ...sets) {
  headlight("train", config, "--run", name, "--quiet", ...flags(...sets));
  return { page: place(`${name}/inspector.html`), hash: hashOf(readFileSync(place(`${name}/model.safetensors`))) };
}

/** @param {Buffer} bytes */
export const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex");

/**
 * Opens a file in a window of its own. At the end, nothing may have been written to the console or asked of a network.
 * @param {import("node:test").TestContext} t @param {string} path @param {{ hash?: string, before?: string } & import("playwright-core").BrowserContextOptions} [options]
 */
export async function open(t, path, { hash = "", before, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  /** @type {string[]} */
  const heard = [];
  page.on("console", (message) => heard.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => heard.push(String(error.stack)));
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || heard.push(request.url()));
  t.after(async () => {
    await context.close();
    assert.deepEqual(heard, []);
  });
  if (before) await page.addInitScript(before);
  await page.goto(pathToFileURL(path) + hash);
  await page.waitForFunction(() => document.documentElement.dataset.ready);
  return page;
}

/** How the page's numbers came about, once it says so. @param {import("playwright-core").Page} page */
export const settled = async (page) => (await page.waitForFunction(() => document.documentElement.dataset.run)).jsonValue();

/** Opens a page that must train to the end. @param {Parameters<typeof open>} all */
export async function openLive(...all) {
  const page = await open(...all);
  assert.equal(await settled(page), "live", await page.textContent("#origin"));
  return page;
}

/** Changes the view. @param {import("playwright-core").Page} page @param {Record<string, unknown>} parts */
export const show = (page, parts) => page.evaluate((parts) => globalThis.headlight.change(parts), parts);

/** Trains an experiment, and returns the hash of its weights. @param {import("playwright-core").Page} page @param {Record<string, unknown>} settings */
export async function experiment(page, settings) {
  await show(page, { settings, tab: "evidence" });
  return page.locator("#departure-title ~ dl dd").first().textContent({ timeout: 60_000 });
}

/** Gives samples or texts of the reader's own. @param {import("playwright-core").Page} page @param {string} text */
export async function paste(page, text) {
  await page.fill("#own-csv", text);
  await page.locator("#own-csv").evaluate((area) => area.form.requestSubmit());
}

/** The texts of elements. @param {import("playwright-core").Page} page @param {string} selector */
export const texts = (page, selector) => page.locator(selector).allTextContents();

/** What a click saves. @param {import("playwright-core").Page} page @param {string} selector */
export async function save(page, selector) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.click(selector)]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

/** Axe finds nothing in light or in dark, and nothing is wider than the window. @param {import("playwright-core").Page} page @param {string} [element] that is not to scroll */
export async function checkLook(page, element = "main") {
  for (const colorScheme of /** @type {const} */ (["dark", "light"])) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document));
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.slice(0, 3).map(({ html }) => html.slice(0, 120))]), [], colorScheme);
  }
  const size = page.viewportSize();
  for (const width of [360, 768, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50))));
    const wide = await page.evaluate((element) => Math.max(document.documentElement.scrollWidth, document.querySelector(element)?.scrollWidth ?? 0), element);
    assert.ok(wide <= width, `${wide} of ${width} pixels`);
  }
  await page.setViewportSize(size);
}

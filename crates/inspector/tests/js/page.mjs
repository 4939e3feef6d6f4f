// The page's own script, without a browser: its source files run in a context of their own, over a page that a
// Rust test writes (`scripts/page_script_tests.sh`). `main.js`, which starts the page, is left out.

import { readFileSync } from "node:fs";
import vm from "node:vm";

const beside = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const FILES = [...beside("../../src/page/html.rs").matchAll(/include_str!\("js\/(\w+)\.js"\)/g)].map(([, name]) => name).filter((name) => name !== "main");

export const fixture = JSON.parse(readFileSync(process.env.PAGE_FIXTURE, "utf8"));

const NUMBERS = /<script type="text\/plain" id="numbers" data-bytes="(\d+)">([^<]*)<\/script>/;
const FACTS = /<script type="application\/json" id="facts">([^<]*)<\/script>/;

export async function load() {
  const [, bytes, text] = NUMBERS.exec(fixture.html);
  const elements = {
    facts: { textContent: FACTS.exec(fixture.html)[1] },
    numbers: { textContent: text, dataset: { bytes } },
  };
  const context = vm.createContext({
    document: { getElementById: (id) => elements[id] },
    location: { hash: "" },
    Blob, DecompressionStream, Response, URLSearchParams,
  });
  for (const name of FILES) {
    vm.runInContext(beside(`../../src/page/js/${name}.js`), context, { filename: `${name}.js` });
  }
  const page = (code) => vm.runInContext(code, context);
  await page("unpack()");
  page("readAddress()");
  return page;
}

// The largest difference between two lists of numbers.
export function difference(one, other) {
  if (one.length !== other.length) return Infinity;
  return one.reduce((most, value, index) => Math.max(most, Math.abs(value - other[index])), 0);
}

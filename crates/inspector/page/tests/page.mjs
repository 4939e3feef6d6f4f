// The page's modules without a browser, over a page that a Rust test writes (`.ci/check page-script`).

import { readFileSync } from "node:fs";
import { moduleOf } from "../bundle.mjs";

if (!process.env.PAGE_FIXTURE) throw new Error("the tests need a page; .ci/check page-script writes one and runs them");
export const fixture = JSON.parse(readFileSync(process.env.PAGE_FIXTURE, "utf8"));

const NUMBERS = /<script type="text\/plain" id="numbers" data-bytes="(\d+)">([^<]*)<\/script>/;
const FACTS = /<script type="application\/json" id="facts">([^<]*)<\/script>/;

const [, bytes, text] = NUMBERS.exec(fixture.html);
const elements = {
  facts: { textContent: FACTS.exec(fixture.html)[1] },
  numbers: { textContent: text, dataset: { bytes } },
};
Object.assign(globalThis, {
  document: { getElementById: (id) => elements[id] ?? null, documentElement: { dataset: {} } },
  location: { hash: "" },
  history: { pushState() {}, replaceState() {} },
});

/** Modules by their paths in `src`. They share one state, apart from that of other calls. */
export async function load(...paths) {
  const names = paths.map((_, index) => `module${index}`);
  const imports = paths.map((path, index) => `import * as ${names[index]} from "./src/${path}";`);
  const code = await moduleOf([...imports, `export default [${names}];`].join("\n"));
  return (await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`)).default;
}

/** The largest difference between two lists of numbers. */
export function difference(one, other) {
  if (one.length !== other.length) return Infinity;
  return one.reduce((most, value, index) => Math.max(most, Math.abs(value - other[index])), 0);
}

// The page's modules without a browser, over the HTML of a page.

import { readFileSync } from "node:fs";
import { resolveObjectURL } from "node:buffer";
import { moduleOf } from "../bundle.mjs";

const HELD = /<script type="[^"]*" id="(\w+)">([^<]*)<\/script>/g;

/** Makes a page's HTML the document. @param {string} html */
export function open(html) {
  const elements = Object.fromEntries(Array.from(html.matchAll(HELD), ([, id, textContent]) => [id, { textContent }]));
  Object.assign(globalThis, {
    document: { getElementById: (id) => elements[id] ?? null, documentElement: { dataset: {} } },
    location: { hash: "" },
    history: { pushState() {}, replaceState() {} },
    Worker,
  });
}

/** A worker of the page, in this thread. */
class Worker {
  #begun;

  constructor(url) {
    this.#begun = resolveObjectURL(url).text().then((code) => {
      const answer = (data) => this.onmessage({ data });
      return new Function("postMessage", `let onmessage;${code};return onmessage`)(answer);
    });
  }

  postMessage(data) {
    this.#begun.then((onmessage) => onmessage({ data }));
  }

  terminate() {}
}

/** The page that a Rust test writes, and the numbers that it must show (`.ci/check page-script`). */
export function openFixture() {
  if (!process.env.PAGE_FIXTURE) throw new Error("the test needs a page; .ci/check page-script writes one and runs the tests");
  const fixture = JSON.parse(readFileSync(process.env.PAGE_FIXTURE, "utf8"));
  open(fixture.html);
  return fixture;
}

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

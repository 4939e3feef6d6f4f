// What no file of the script may use: text becomes markup nowhere, and the page loads nothing.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";

const FORBIDDEN = ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(", "XMLHttpRequest", "import(", "localStorage"];
// The one place that may read the document as text, once: where the page is saved.
const ALLOWED = { "first/headline/page-file.ts": "${copy.outerHTML}" };
const folder = new URL("../src/", import.meta.url);

test("no markup from text, no code from text, no requests", () => {
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.tsx?$/.test(name));
  assert.ok(files.length > 20, files.join(", "));
  for (const name of files) {
    // Types name modules as imports do.
    const text = readFileSync(new URL(name, folder), "utf8").replaceAll(/\/\*\*.*?\*\//gs, "");
    const parts = ALLOWED[name] ? text.split(ALLOWED[name]) : [text];
    assert.equal(parts.length, ALLOWED[name] ? 2 : 1, name);
    const code = parts.join("");
    for (const word of FORBIDDEN) assert.ok(!code.includes(word), `${name}: ${word}`);
  }
});

// The page unpacks what xz packed: the modules of crates/lab, which take every branch of the decoder, and short texts.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { unlzma } from "../src/engine/lzma.js";

const xz = (input, ...options) => execFileSync("xz", ["--format=lzma", "--stdout", ...options], { input, maxBuffer: 1e8 });

for (const name of ["lab", "lab_words"]) {
  test(`the module ${name}`, () => {
    const packed = readFileSync(new URL(`../../../lab/${name}.wasm.lzma`, import.meta.url));
    const module = unlzma(packed);
    assert.ok(WebAssembly.validate(module));
    assert.ok(xz(packed, "--decompress").equals(module));
  });
}

test("short texts, and a long one of one letter", () => {
  for (const text of ["", "a", "abcabcabc", "a".repeat(100_000)]) {
    const packed = xz(text, "--lzma1=preset=9e,lc=3,lp=0,pb=0");
    assert.equal(new TextDecoder().decode(unlzma(packed)), text);
  }
});

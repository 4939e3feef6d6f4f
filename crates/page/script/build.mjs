// Bundles the page's script and style into ../src/bundle, which the crate embeds. With --check, it compares instead; with
// --out FOLDER, it writes there. What a loader puts in is packed by zopfli, as gzip, with the source by which a policy allows it.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { scriptOf, styleOf } from "./bundle.mjs";

const [loader, script, style] = await Promise.all([
  scriptOf("src/loader.ts"),
  scriptOf("src/main.tsx"),
  styleOf("src/main.tsx"),
]);
const [option, folder = fileURLToPath(new URL("../src/bundle", import.meta.url))] = process.argv.slice(2);

/** Writes a file or, with --check, compares what it holds. @param {string} name @param {string} text @param {boolean} [isPacked] */
function put(name, text, isPacked = false) {
  const path = `${folder}/${isPacked ? `${name}.gz` : name}`;
  if (option !== "--check") {
    writeFileSync(path, isPacked ? execFileSync("zopfli", ["--i15", "-c", `${folder}/${name}`]) : text);
  } else if ((isPacked ? gunzipSync(readFileSync(path)) : readFileSync(path)).toString() !== text) {
    console.error(`${path} is not what crates/page/script builds to; run npm run build there, and commit it`);
    process.exit(1);
  }
}

put("loader.js", `${loader}\n`);
for (const [name, text] of [
  ["page.js", `${script}\n`],
  ["page.css", style],
]) {
  put(name, text);
  put(name, text, true);
  put(`${name}.source`, `'sha256-${createHash("sha256").update(text).digest("base64")}'`);
  console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
}

// Bundles the page's script and style into ../src/page, which the inspector embeds. With --check, it compares instead; with
// --out FOLDER, it writes there. What a loader puts in is packed by zopfli, as gzip, with the source by which a policy allows it.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { scriptOf, styleOf } from "./bundle.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const [loader, script, style] = await Promise.all([scriptOf("src/loader.js"), scriptOf("src/main.jsx"), styleOf("src/main.css")]);

const [option, folder = here("../src/page")] = process.argv.slice(2);

/** Packs a file, or, with --check, unpacks what is committed. @param {string} path @param {string} text what the file holds */
function packed(path, text) {
  if (option === "--check") return gunzipSync(readFileSync(`${path}.gz`)).toString() === text;
  writeFileSync(`${path}.gz`, execFileSync("zopfli", ["--i15", "-c", path]));
  return true;
}

const loaded = [["page.js", `${script}\n`], ["page.css", style]];
const sources = loaded.map(([name, text]) => [`${name}.source`, `'sha256-${createHash("sha256").update(text).digest("base64")}'`]);
for (const [name, text] of [["loader.js", `${loader}\n`], ...loaded, ...sources]) {
  const path = `${folder}/${name}`;
  if (option !== "--check") {
    writeFileSync(path, text);
  } else if (readFileSync(path, "utf8") !== text) {
    console.error(`${name} is not what crates/inspector/page builds to; run npm run build there, and commit crates/inspector/src/page/${name}`);
    process.exit(1);
  }
  console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
}
for (const [name, text] of loaded) {
  if (packed(`${folder}/${name}`, text)) continue;
  console.error(`${name}.gz does not hold ${name}; run npm run build in crates/inspector/page, and commit crates/inspector/src/page/${name}.gz`);
  process.exit(1);
}

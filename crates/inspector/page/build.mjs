// Bundles the page's script and style into ../src/page, which the inspector embeds. With --check, it compares instead; with
// --out FOLDER, it writes there.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { recordedScriptOf, scriptOf, styleOf } from "./bundle.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const [loader, script, style] = await Promise.all([scriptOf("src/loader.js"), scriptOf("src/main.jsx"), styleOf("src/main.css")]);
const recorded = await recordedScriptOf("src/main.jsx");
const [attention, attentionStyle] = await Promise.all([scriptOf("src/attention/main.jsx"), styleOf("src/attention/main.css")]);

// The page of a walkthrough has its script as it is, where `<` could end the script element.
const walkthrough = (await scriptOf("src/walkthrough/main.jsx")).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const walkthroughStyle = await styleOf("src/walkthrough/main.css");

const [option, folder = here("../src/page")] = process.argv.slice(2);
for (const [name, text] of [["loader.js", `${loader}\n`], ["page.js", `${script}\n`], ["recorded.js", `${recorded}\n`], ["page.css", style], ["attention.js", `${attention}\n`], ["attention.css", attentionStyle], ["walkthrough.js", `${walkthrough}\n`], ["walkthrough.css", walkthroughStyle]]) {
  const path = `${folder}/${name}`;
  if (option !== "--check") {
    writeFileSync(path, text);
  } else if (readFileSync(path, "utf8") !== text) {
    console.error(`${name} is not what crates/inspector/page builds to; run npm run build there, and commit crates/inspector/src/page/${name}`);
    process.exit(1);
  }
  console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
}

// Bundles the page's script and style into ../src/page, which the inspector embeds. With --check, it compares instead; with
// --out FOLDER, it writes there.

import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const common = { bundle: true, minify: true, write: false, format: "iife", target: "es2022", charset: "utf8", legalComments: "none" };

async function bundle(entry, plugins = []) {
  const { outputFiles: [file] } = await build({ ...common, entryPoints: [here(entry)], jsx: "automatic", jsxImportSource: "preact", plugins });
  return file.text.trim();
}

// `import code from "worker:engine"` is the text of a worker's own bundle: a page of one file cannot load another.
const worker = {
  name: "worker",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^worker:/ }, ({ path }) => ({ path, namespace: "worker" }));
    onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => ({ contents: await bundle(`src/engine/${path.slice(7)}.worker.js`), loader: "text" }));
  },
};

const [loader, script] = [await bundle("src/loader.js"), await bundle("src/main.jsx", [worker])];
const { outputFiles: [style] } = await build({ ...common, entryPoints: [here("src/main.css")] });

// The page of a walkthrough has its script as it is, where `<` could end the script element.
const walkthrough = (await bundle("src/walkthrough/main.jsx")).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const { outputFiles: [walkthroughStyle] } = await build({ ...common, entryPoints: [here("src/walkthrough/main.css")] });

const [option, folder = here("../src/page")] = process.argv.slice(2);
for (const [name, text] of [["loader.js", `${loader}\n`], ["page.js", `${script}\n`], ["page.css", style.text], ["walkthrough.js", `${walkthrough}\n`], ["walkthrough.css", walkthroughStyle.text]]) {
  const path = `${folder}/${name}`;
  if (option !== "--check") {
    writeFileSync(path, text);
  } else if (readFileSync(path, "utf8") !== text) {
    console.error(`${name} is not what crates/inspector/page builds to; run npm run build there, and commit crates/inspector/src/page/${name}`);
    process.exit(1);
  }
  console.log(`${name}: ${Buffer.byteLength(text)} bytes`);
}

// Bundles modules of the page, for the build and for the tests.

import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { minify } from "terser";

const folder = fileURLToPath(new URL(".", import.meta.url));
const script = { jsx: "automatic", jsxImportSource: "preact" };

/** The text of a bundle: of its script, or of the styles that its modules import. @param {import("esbuild").BuildOptions} options */
async function bundle(options, ending = ".js") {
  const { outputFiles } = await build({ ...script, bundle: true, write: false, outdir: folder, plugins: [worker, glossary], target: "es2022", charset: "utf8", legalComments: "none", absWorkingDir: folder, ...options });
  return outputFiles.find(({ path }) => path.endsWith(ending)).text;
}

// `import code from "worker:engine"` is the text of a worker's own bundle: a page of one file cannot load another.
const worker = {
  name: "worker",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^worker:/ }, ({ path }) => ({ path, namespace: "worker" }));
    onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => ({ contents: await scriptOf(`src/engine/${path.slice(7)}.worker.ts`), loader: "text" }));
  },
};

// `import terms from "glossary:[CLS],Query"` has the first sentence of each of these terms in the book's glossary.
const glossary = {
  name: "glossary",
  setup({ onResolve, onLoad }) {
    const text = readFileSync(new URL("../../../docs/learn/glossary.md", import.meta.url), "utf8");
    const sentenceOf = (term) => text.split(`\n## ${term}\n\n`)[1].match(/^[^]*?[.](?=\s)/)[0].replaceAll("\n", " ");
    onResolve({ filter: /^glossary:/ }, ({ path }) => ({ path, namespace: "glossary" }));
    onLoad({ filter: /.*/, namespace: "glossary" }, ({ path }) => ({ contents: JSON.stringify(Object.fromEntries(path.slice(9).split(",").map((term) => [term.toLowerCase(), sentenceOf(term)]))), loader: "json" }));
  },
};

/** A script and all that it imports. Packed, it is 2% smaller than what esbuild's own minifier leaves. @param {string} entry */
export async function scriptOf(entry) {
  const text = await bundle({ entryPoints: [entry], format: "iife", minify: true });
  const { code } = await minify(text, { ecma: 2020, toplevel: true, compress: { passes: 2 } });
  return code ?? "";
}

/** The styles of a script and of all that it imports. @param {string} entry */
export const styleOf = (entry) => bundle({ entryPoints: [entry], minify: true }, ".css");

/** A module of the given text, which imports from this folder. @param {string} contents */
export const moduleOf = (contents) => bundle({ stdin: { contents, resolveDir: folder }, format: "esm" });

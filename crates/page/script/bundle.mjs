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

/** A plugin that makes modules whose names begin so. @param {string} prefix @param {import("esbuild").Loader} loader @param {(name: string) => string | Promise<string>} contentsOf */
const making = (prefix, loader, contentsOf) => ({
  name: prefix,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: RegExp(`^${prefix}:`) }, ({ path }) => ({ path: path.slice(prefix.length + 1), namespace: prefix }));
    onLoad({ filter: /.*/, namespace: prefix }, async ({ path }) => ({ contents: await contentsOf(path), loader }));
  },
});

// `import code from "worker:engine"` is the text of a worker's own bundle: a page of one file cannot load another.
const worker = making("worker", "text", (name) => scriptOf(`src/engine/${name}.worker.ts`));

// `import terms from "glossary:[CLS],Query"` has the first sentence of each of these terms in the book's glossary.
const glossary = making("glossary", "json", (terms) => {
  const text = readFileSync(new URL("../../../docs/learn/glossary.md", import.meta.url), "utf8");
  const sentenceOf = (term) => text.split(`\n## ${term}\n\n`)[1].match(/^[^]*?[.](?=\s)/)[0].replaceAll("\n", " ");
  return JSON.stringify(Object.fromEntries(terms.split(",").map((term) => [term.toLowerCase(), sentenceOf(term)])));
});

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

// Bundles modules of the page, for the build and for the tests.

import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { minify } from "terser";

const folder = fileURLToPath(new URL(".", import.meta.url));
const script = { jsx: "automatic", jsxImportSource: "preact" };

/** The text of a bundle. @param {import("esbuild").BuildOptions} options */
async function bundle(options) {
  const { outputFiles: [file] } = await build({ bundle: true, write: false, target: "es2022", charset: "utf8", legalComments: "none", absWorkingDir: folder, ...options });
  return file.text;
}

// `import code from "worker:engine"` is the text of a worker's own bundle: a page of one file cannot load another.
const worker = {
  name: "worker",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^worker:/ }, ({ path }) => ({ path, namespace: "worker" }));
    onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => ({ contents: await scriptOf(`src/engine/${path.slice(7)}.worker.ts`), loader: "text" }));
  },
};

/** A script and all that it imports. Packed, it is 2% smaller than what esbuild's own minifier leaves. @param {string} entry */
export async function scriptOf(entry) {
  const text = await bundle({ ...script, entryPoints: [entry], plugins: [worker], format: "iife", minify: true });
  const { code } = await minify(text, { ecma: 2020, toplevel: true, compress: { passes: 2 } });
  return code ?? "";
}

/** A style sheet and all that it imports. @param {string} entry */
export const styleOf = (entry) => bundle({ entryPoints: [entry], minify: true });

/** A module of the given text, which imports from this folder. @param {string} contents */
export const moduleOf = (contents) => bundle({ ...script, stdin: { contents, resolveDir: folder }, plugins: [worker], format: "esm" });

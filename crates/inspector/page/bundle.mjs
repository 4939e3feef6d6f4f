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
    onLoad({ filter: /.*/, namespace: "worker" }, async ({ path }) => ({ contents: await scriptOf(`src/engine/${path.slice(7)}.worker.js`), loader: "text" }));
  },
};

/**
 * Modules that only a page with an engine uses, in `src`: those that train, compute other samples, or take in and give out
 * what trainings need. A page of recordings has nothing to do with them, so its bundle leaves them out, and with them all
 * that only they import.
 */
export const OF_ENGINE = [
  "engine/workers.js", "panels/generate.jsx", "panels/words.jsx", "sources/live.js", "swarm.js", "training.js",
  "parts/attribution.jsx", "parts/own-data.jsx", "parts/settings.jsx", "parts/surprises.js", "parts/swarm.jsx", "parts/take-out.jsx",
];

/** The names that a module exports. @param {string} path */
async function exportsOf(path) {
  const { metafile } = await build({ ...script, entryPoints: [path], write: false, metafile: true, format: "esm" });
  return Object.values(metafile.outputs)[0].exports;
}

/** Replaces the modules of `OF_ENGINE`: each of their exports becomes a function that does nothing, which no object is an instance of. */
function withoutEngine() {
  const left = new Set(OF_ENGINE.map((name) => `${folder}src/${name}`));
  return {
    name: "without-engine",
    /** @param {import("esbuild").PluginBuild} build */
    setup({ onLoad, onEnd }) {
      onLoad({ filter: /\/src\/.*\.jsx?$/ }, async ({ path }) => {
        if (!OF_ENGINE.some((name) => path === `${folder}src/${name}`)) return null;
        left.delete(path);
        return { contents: (await exportsOf(path)).map((name) => `export function ${name}() {}`).join("\n"), loader: "js" };
      });
      onEnd(() => ({ errors: [...left].map((path) => ({ text: `OF_ENGINE names ${path}, which the page does not import` })) }));
    },
  };
}

/** A script and all that it imports. Packed, it is 2% smaller than what esbuild's own minifier leaves. @param {string} entry @param {import("esbuild").Plugin[]} [plugins] */
export async function scriptOf(entry, plugins = []) {
  const text = await bundle({ ...script, entryPoints: [entry], plugins: [...plugins, worker], format: "iife", minify: true });
  const { code } = await minify(text, { ecma: 2020, toplevel: true, compress: { passes: 2 } });
  return code ?? "";
}

/** The script of a page of recordings, which holds no engine. @param {string} entry */
export const recordedScriptOf = (entry) => scriptOf(entry, [withoutEngine()]);

/** A style sheet and all that it imports. @param {string} entry */
export const styleOf = (entry) => bundle({ entryPoints: [entry], minify: true });

/** A module of the given text, which imports from this folder. @param {string} contents */
export const moduleOf = (contents) => bundle({ ...script, stdin: { contents, resolveDir: folder }, plugins: [worker], format: "esm" });

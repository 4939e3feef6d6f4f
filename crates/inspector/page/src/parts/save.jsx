// The buttons that save the matrices as files.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { csvOf, fileName, jsonOf, svgOf } from "./export.js";
import { saveFile, say } from "./dom.jsx";
import { pngOf } from "./raster.js";

/** @typedef {import("./matrices.js").Panel} Panel */

// How long the name of the saved file stands there.
const SHOWN_FOR = 6000;

/** @type {Record<string, (panels: Panel[]) => Blob | Promise<Blob>>} */
const FORMATS = {
  svg: (panels) => new Blob([svgOf(panels).svg], { type: "image/svg+xml" }),
  png: (panels) => pngOf(svgOf(panels)),
  csv: (panels) => new Blob([csvOf(panels)], { type: "text/csv" }),
  json: (panels) => new Blob([jsonOf(panels)], { type: "application/json" }),
};

/** @param {{ panels: () => Panel[] }} props what is shown */
export function Save({ panels }) {
  const saved = useSignal("");
  useEffect(() => {
    if (!saved.value) return;
    const timer = setTimeout(() => { saved.value = ""; }, SHOWN_FOR);
    return () => clearTimeout(timer);
  }, [saved.value]);
  /** @param {string} ending */
  async function save(ending) {
    const now = panels();
    try {
      const name = fileName(now, ending);
      saveFile(name, await FORMATS[ending](now));
      saved.value = `Saved ${name}`;
    } catch (error) {
      saved.value = `Not saved: ${/** @type {Error} */ (error).message}`;
      say(saved.value);
    }
  }
  return (
    <span class="save" role="group" aria-label="Save the matrices">
      <span aria-hidden="true">Save as</span>
      {Object.keys(FORMATS).map((ending) => <button type="button" key={ending} id={`save-${ending}`} onClick={() => save(ending)}>{ending.toUpperCase()}</button>)}
      {saved.value && <span class="saved" aria-hidden="true">{saved.value}</span>}
    </span>
  );
}

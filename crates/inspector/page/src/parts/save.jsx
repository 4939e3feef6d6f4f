// The buttons that save the matrices as files.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { csvOf, fileName, jsonOf, svgOf } from "./export.js";
import { saveFile, say } from "./dom.jsx";

/** @typedef {import("./matrices.js").Panel} Panel */

// Browsers refuse canvases of more pixels than this on a side.
const MOST_PIXELS = 8000;
// How long the name of the saved file stands there.
const SHOWN_FOR = 6000;

/** @param {Panel[]} panels @returns {Promise<Blob>} */
async function pngOf(panels) {
  const { svg, width, height } = svgOf(panels);
  const image = new Image(width, height);
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
    const share = Math.min(2, MOST_PIXELS / Math.max(width, height));
    const canvas = Object.assign(document.createElement("canvas"), { width: Math.ceil(width * share), height: Math.ceil(height * share) });
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => canvas.toBlob((blob) => blob ? resolve(blob) : reject(new Error("the browser cannot make a PNG of this size")), "image/png"));
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** @type {Record<string, (panels: Panel[]) => Blob | Promise<Blob>>} */
const FORMATS = {
  svg: (panels) => new Blob([svgOf(panels).svg], { type: "image/svg+xml" }),
  png: pngOf,
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

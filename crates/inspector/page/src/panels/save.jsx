// All that a reader can take from the page: what is shown, the matrices, and the training.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { tomlOf } from "../config.js";
import { saveFile, say } from "../parts/dom.jsx";
import { csvOf } from "../parts/csv.js";
import { fileName, inName, jsonOf, matrixCsvOf, svgOf } from "../parts/export.js";
import { pageFile } from "../parts/page-file.js";
import { play } from "../parts/play.js";
import { pngOf } from "../parts/raster.js";
import { panels } from "../parts/shown.js";
import { Live } from "../sources/live.js";
import { base, configOf, dataOf, here, settings, settingsOf } from "../state.js";
import { settleAddress } from "../view.js";

/** @typedef {import("../parts/matrices.js").Panel} Panel */

const isOpen = signal(false);

export function SaveButton() {
  const open = () => {
    play(false);
    settleAddress();
    isOpen.value = true;
  };
  return (
    <button type="button" id="save" aria-haspopup="dialog" onClick={open}>
      Save or share…
    </button>
  );
}

/** A page within another has none. */
const hasAddress = /^(https?|file):$/.test(location.protocol);

/** Where others cannot open the page's address: why. Empty where they can. */
function localText() {
  const { protocol, hostname } = location;
  if (/^https?:$/.test(protocol) && !/^(localhost|127\..*|\[::1\])$/.test(hostname)) return "";
  return hasAddress
    ? "The page's address works only on this computer. Send the file instead."
    : "This page is part of another one, and has no address that others can open. Send the file instead.";
}

export function SaveDialog() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    if (isOpen.value) dialog.current?.showModal();
  }, [isOpen.value]);
  if (!isOpen.value) return null;
  const close = () => {
    isOpen.value = false;
    document.getElementById("save")?.focus();
  };
  return (
    <dialog id="save-dialog" ref={dialog} aria-labelledby="save-title" onClose={close}>
      <div class="row">
        <h2 id="save-title">Save or share</h2>
        <button type="button" id="save-close" aria-label="Close" onClick={() => dialog.current?.close()}>
          ×
        </button>
      </div>
      <View />
      <Matrices />
      <Training />
    </dialog>
  );
}

/** What an address cannot hold. */
const ownText = () =>
  "data.file" in settings.peek() ? " It does not hold your own samples and texts; the file does." : "";

/** The view, for somebody else. */
function View() {
  const local = localText();
  const copyAddress = async () => {
    if (!navigator.clipboard) throw new Error("this browser lets no page copy; take the address from its bar");
    await navigator.clipboard.writeText(location.href);
    return "Address copied";
  };
  return (
    <>
      <h3>This view</h3>
      {local && <p id="save-local">{local}</p>}
      <ul class="plain">
        {hasAddress && (
          <Way
            id="address"
            title="Copy the address"
            text={`It holds the view, the experiment and its changes.${ownText()}`}
            act={copyAddress}
          />
        )}
        <Way
          id="page"
          title="Save the page"
          text="One HTML file with this view. It opens in any browser, without a network."
          act={() => saved(`${inName(document.title, 120)}.html`, pageFile())}
        />
      </ul>
    </>
  );
}

/** @type {[ending: string, text: string, of: (panels: Panel[]) => Blob | Promise<Blob>][]} */
const FORMATS = [
  ["svg", "A picture of the matrices.", (shown) => new Blob([svgOf(shown).svg], { type: "image/svg+xml" })],
  ["png", "The same picture, in pixels.", (shown) => pngOf(svgOf(shown))],
  ["csv", "Their numbers, a line for each cell.", (shown) => new Blob([matrixCsvOf(shown)], { type: "text/csv" })],
  ["json", "Their numbers, as lists of rows.", (shown) => new Blob([jsonOf(shown)], { type: "application/json" })],
];

/** The shown matrices: with a pinned one, that and the difference, too. */
function Matrices() {
  const shown = panels.peek();
  if (!shown.length) return null;
  return (
    <>
      <h3>The matrices</h3>
      <ul class="plain">
        {FORMATS.map(([ending, text, of]) => (
          <Way
            key={ending}
            id={ending}
            title={`Save as ${ending.toUpperCase()}`}
            text={text}
            act={async () => saved(fileName(shown, ending), await of(shown))}
          />
        ))}
      </ul>
    </>
  );
}

/** What the command line needs to go on with a training of this page. */
function Training() {
  const now = here.peek();
  const run = base.peek();
  const own = settingsOf(run);
  const config = configOf(own);
  if (!now || !run || !config || !(run.source instanceof Live)) return null;
  const { source } = run;
  const data = dataOf(own);
  const isBest = run.facts.best === run.times[now.at] && run.facts.best !== run.last;
  const file = `${isBest ? "best" : "model"}.safetensors`;
  const weights = () =>
    source.trained.lab.ask({ operation: "save", config: source.config }, source.weightsAt(now.at)).floats;
  return (
    <>
      <h3>The training</h3>
      <ul class="plain">
        <Way
          id="config"
          title="config.toml"
          text={
            <>
              <code>headlight train config.toml</code> repeats this training.
            </>
          }
          act={() => saved("config.toml", new Blob([tomlOf(config)]))}
        />
        <Way
          id="model"
          title={file}
          text={`The model of step ${run.stepName(now.at)}, without changes of yours.`}
          act={() => saved(file, new Blob([weights()]))}
        />
        {data && !run.asksEach && (
          <Way
            id="data"
            title={String(config.data.file)}
            text="The samples that it trains on."
            act={() => saved(String(config.data.file), new Blob(["table" in data ? data.table : csvOf(data)]))}
          />
        )}
      </ul>
    </>
  );
}

/** @param {string} name @param {Blob} blob */
function saved(name, blob) {
  saveFile(name, blob);
  return `Saved ${name}`;
}

/** One of the files, with what came of it. @param {{ id: string, title: string, text: import("preact").ComponentChildren, act: () => string | Promise<string> }} props */
function Way({ id, title, text, act }) {
  const [result, setResult] = useState("");
  const start = async () => {
    try {
      setResult(await act());
    } catch (error) {
      const why = `That failed: ${/** @type {Error} */ (error).message}`;
      setResult(why);
      say(why);
    }
  };
  return (
    <li>
      <button type="button" id={`save-${id}`} aria-describedby={`save-${id}-text`} onClick={start}>
        <bdi>{title}</bdi>
      </button>
      <p class="hint" id={`save-${id}-text`}>
        {result || text}
      </p>
    </li>
  );
}

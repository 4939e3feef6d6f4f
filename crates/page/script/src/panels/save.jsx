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
      <Section title="This view" ways={viewWays()}>
        {localText() && <p id="save-local">{localText()}</p>}
      </Section>
      <Section title="The matrices" ways={matrixWays()} />
      <Section title="The training" ways={trainingWays()} />
    </dialog>
  );
}

/** What a reader can take: its id, its title, what it is, and what takes it and says so. @typedef {[id: string, title: string, text: string, act: () => string | Promise<string>]} Way */

/** The view, for somebody else. @returns {Way[]} */
function viewWays() {
  const own = "data.file" in settings.peek() ? " It does not hold your own samples and texts; the file does." : "";
  const copyAddress = async () => {
    if (!navigator.clipboard) throw new Error("this browser lets no page copy; take the address from its bar");
    await navigator.clipboard.writeText(location.href);
    return "Address copied";
  };
  /** @type {Way} */
  const address = [
    "address",
    "Copy the address",
    `It holds the view, the experiment and its changes.${own}`,
    copyAddress,
  ];
  const file = "One HTML file with this view. It opens in any browser, without a network.";
  const name = `${inName(document.title, 120)}.html`;
  return [...(hasAddress ? [address] : []), ["page", "Save the page", file, () => saved(name, pageFile())]];
}

/** The shown matrices: with a pinned one, that and the difference, too. @returns {Way[]} */
function matrixWays() {
  const shown = panels.peek();
  /** @type {(ending: string, text: string, of: () => BlobPart | Promise<BlobPart>, type?: string) => Way} */
  const way = (ending, text, of, type) => [
    ending,
    `Save as ${ending.toUpperCase()}`,
    text,
    async () => saved(fileName(shown, ending), new Blob([await of()], { type })),
  ];
  return !shown.length
    ? []
    : [
        way("svg", "A picture of the matrices.", () => svgOf(shown).svg, "image/svg+xml"),
        way("png", "The same picture, in pixels.", () => pngOf(svgOf(shown)), "image/png"),
        way("csv", "Their numbers, a line for each cell.", () => matrixCsvOf(shown), "text/csv"),
        way("json", "Their numbers, as lists of rows.", () => jsonOf(shown), "application/json"),
      ];
}

/** What the command line needs to go on with a training of this page. @returns {Way[]} */
function trainingWays() {
  const [now, run] = [here.peek(), base.peek()];
  const own = settingsOf(run);
  const config = configOf(own);
  if (!now || !config || !(run?.source instanceof Live)) return [];
  const { source } = run;
  const data = dataOf(own);
  const isBest = run.facts.best === run.times[now.at] && run.facts.best !== run.last;
  const weights = () =>
    source.trained.lab.ask({ operation: "save", config: source.config }, source.weightsAt(now.at)).floats;
  /** @type {(id: string, name: string, text: string, of: () => BlobPart) => Way} */
  const way = (id, name, text, of) => [id, name, text, () => saved(name, new Blob([of()]))];
  const table = () => (data && "table" in data ? data.table : csvOf(/** @type {any} */ (data)));
  return [
    way("config", "config.toml", "“headlight train config.toml” repeats this training.", () => tomlOf(config)),
    way(
      "model",
      `${isBest ? "best" : "model"}.safetensors`,
      `The model of step ${run.stepName(now.at)}, without changes of yours.`,
      weights,
    ),
    ...(data && !run.asksEach ? [way("data", String(config.data.file), "The samples that it trains on.", table)] : []),
  ];
}

/** @param {string} name @param {Blob} blob */
function saved(name, blob) {
  saveFile(name, blob);
  return `Saved ${name}`;
}

/** @param {{ title: string, ways: Way[], children?: any }} props */
const Section = ({ title, ways, children }) =>
  ways.length > 0 && (
    <>
      <h3>{title}</h3>
      {children}
      <ul class="plain">
        {ways.map((way) => (
          <Entry key={way[0]} way={way} />
        ))}
      </ul>
    </>
  );

/** One of the files, with what came of it. @param {{ way: Way }} props */
function Entry({ way: [id, title, text, act] }) {
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

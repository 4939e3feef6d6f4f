// All that a reader can take from the page: what is shown, the matrices, and the training.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { tomlOf } from "../../model/config";
import { saveFile, announce } from "../../draw/dom";
import { csvOf } from "../../model/csv";
import { fileName, inName, matrixCsvOf, matrixJsonOf } from "./export";
import { pngOf, svgOf } from "./picture";
import { pageFile } from "./page-file";
import { play } from "../../state/play";
import { panels } from "../attention/panels";
import { Live } from "../../sources/live";
import { baseRun, configOf, dataOf, current, settings, settingsOf } from "../../state/state";
import { settleAddress } from "../../state/view";
import type { CarriedSamples } from "../../model/types";
import type { ComponentChildren } from "preact";
import "./save.css";

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
  const dialog = useRef<HTMLDialogElement>(null);
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

/** What a reader can take: its id, its title, what it is, and what takes it and says so. */
type Way = [id: string, title: string, text: string, act: () => string | Promise<string>];

/** The view, for somebody else. */
function viewWays(): Way[] {
  const own = "data.file" in settings.peek() ? " It does not hold your own samples and texts; the file does." : "";
  const copyAddress = async () => {
    if (!navigator.clipboard) throw new Error("this browser lets no page copy; take the address from its bar");
    await navigator.clipboard.writeText(location.href);
    return "Address copied";
  };
  const address: Way = [
    "address",
    "Copy the address",
    `It holds the view, the experiment and the interventions.${own}`,
    copyAddress,
  ];
  const file = "One HTML file with this view. It opens in any browser, without a network.";
  const name = `${inName(document.title, 120)}.html`;
  return [...(hasAddress ? [address] : []), ["page", "Save the page", file, () => saveFile(name, pageFile())]];
}

/** The shown matrices: with a pinned one, that and the difference, too. */
function matrixWays(): Way[] {
  const shown = panels.peek();
  const way = (ending: string, text: string, of: () => BlobPart | Promise<BlobPart>): Way => [
    ending,
    `Save as ${ending.toUpperCase()}`,
    text,
    async () => saveFile(fileName(shown, ending), new Blob([await of()])),
  ];
  if (!shown.length) return [];
  return [
    way("svg", "A picture of the matrices, for documents.", () => svgOf(shown).svg),
    way("png", "The same picture, in pixels.", () => pngOf(svgOf(shown))),
    way("csv", "Their numbers, a line for each cell.", () => matrixCsvOf(shown)),
    way("json", "Their numbers, as lists of rows.", () => matrixJsonOf(shown)),
  ];
}

/** What the command line needs to go on with a training of this page. */
function trainingWays(): Way[] {
  const [now, run] = [current.peek(), baseRun.peek()];
  const own = settingsOf(run);
  const config = configOf(own);
  if (!now || !config || !(run?.source instanceof Live)) return [];
  const { source } = run;
  const data = dataOf(own);
  const isBest = run.facts.best === run.times[now.at] && run.facts.best !== run.last;
  const weights = () =>
    source.trained.lab.ask({ operation: "save", config: source.config }, source.weightsAt(now.at)).floats;
  const save = (name: string, of: () => BlobPart) => () => saveFile(name, new Blob([of()]));
  const table = () => (data && "table" in data ? data.table : csvOf(data as CarriedSamples));
  const model = `${isBest ? "best" : "model"}.safetensors`;
  const about = `The model of step ${run.stepName(now.at)}, without interventions.`;
  const file = String(config.data.file);
  const toml = "“headlight train config.toml” repeats this training.";
  return [
    ["config", "config.toml", toml, save("config.toml", () => tomlOf(config))],
    ["model", model, about, save(model, weights)],
    ...(data && !run.asksEach ? [["data", file, "The samples that it trains on.", save(file, table)] as Way] : []),
  ];
}

const Section = ({ title, ways, children }: { title: string; ways: Way[]; children?: ComponentChildren }) =>
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

/** One of the files, with what came of it. */
function Entry({ way: [id, title, text, act] }: { way: Way }) {
  const [result, setResult] = useState("");
  const start = async () => {
    try {
      setResult(await act());
    } catch (error) {
      const why = `That failed: ${(error as Error).message}`;
      setResult(why);
      announce(why);
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

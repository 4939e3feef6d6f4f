// Sharing: the address of the view, a picture, a film of the training, and the page as a file.

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { copyText, saveFile, say } from "../parts/dom.jsx";
import { inName } from "../parts/export.js";
import { filmOf, filmType } from "../parts/film.js";
import { pageFile } from "../parts/page-file.js";
import { play } from "../parts/play.js";
import { pngOf } from "../parts/raster.js";
import { sentenceOf, weightsOf } from "../parts/sentence.js";
import { sightOf } from "../parts/sight.js";
import { here, settings } from "../state.js";
import { settleAddress } from "../view.js";

const isOpen = signal(false);

export function ShareButton() {
  return <button type="button" id="share" aria-haspopup="dialog" onClick={() => { play(false); settleAddress(); isOpen.value = true; }}>Share…</button>;
}

/** A page within another has none. */
const hasAddress = /^(https?|file):$/.test(location.protocol);

/** Where others cannot open the page's address: why. Empty where they can. */
function localText() {
  const { protocol, hostname } = location;
  if (protocol === "file:") return "This page is a file, so its address works only on this computer. Send the file instead.";
  if (!hasAddress) return "This page is part of another one, and has no address that others can open. Send the file instead.";
  return /^(localhost|127\..*|\[::1\])$/.test(hostname) ? "A server on this computer shows this page, so its address works only here. Send the file instead." : "";
}

/** @typedef {NonNullable<typeof here.value>} Here */

/** @param {string} question */
const aboutOf = (question) => ({ question, title: document.title, address: localText() ? "" : `${location.host}${location.pathname}` });

/** @param {{ question: string }} props the title of the page, which the picture begins with */
export function ShareDialog({ question }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => { if (isOpen.value) dialog.current?.showModal(); }, [isOpen.value]);
  if (!isOpen.value) return null;
  return (
    <dialog id="share-dialog" ref={dialog} aria-labelledby="share-title" onClose={() => { isOpen.value = false; document.getElementById("share")?.focus(); }}>
      <div class="row">
        <h2 id="share-title">Share what you see</h2>
        <button type="button" id="share-close" aria-label="Close" onClick={() => dialog.current?.close()}>×</button>
      </div>
      <Ways question={question} />
    </dialog>
  );
}

/** @param {{ question: string }} props */
function Ways({ question }) {
  const now = here.peek();
  const about = aboutOf(question);
  const name = (/** @type {string} */ ending) => `${inName(document.title, 120)}${now ? `-step-${now.run.stepName(now.at)}` : ""}.${ending}`;
  const local = localText();
  const address = <Way key="address" id="address" title="Copy the address" text={`It holds the view, the experiment and its changes.${ownText()}`} act={() => copyText(location.href, "the address of this view").then(() => "Address copied")} />;
  const file = <Way key="page" id="page-file" title="Save the page" text="One HTML file with this view. It opens in any browser, without a network." act={() => saved(`${inName(document.title, 120)}.html`, pageFile())} />;
  return (
    <>
      {local && <p id="share-local">{local}</p>}
      {now && <Preview now={now} about={about} />}
      <ul>
        {local ? [file, hasAddress && address] : [address, file]}
        {now && <Way id="picture" title="Save as PNG" text="The picture above, 2400 by 1260 pixels." act={async () => saved(name("png"), await pngOf(sightOf(now, about)))} />}
        {now && now.run.times.length > 1 && (filmType()
          ? <Way id="film" title="Save as WebM" text="The training as a film of four seconds: it takes as long to record." act={async (told) => saved(name("webm"), await filmOf((part) => sightOf({ ...now, at: Math.round(part * (now.run.times.length - 1)) }, about), (part) => told(`Recording: ${Math.round(100 * part)}%`)))} />
          : <Way id="film" title="Save as WebM" text="This browser cannot record a film." />)}
      </ul>
    </>
  );
}

/** What an address cannot hold. */
const ownText = () => "data.file" in settings.peek() ? " It does not hold your own samples and texts; the file does." : "";

/** @param {string} name @param {Blob} blob */
function saved(name, blob) {
  saveFile(name, blob);
  return `Saved ${name}`;
}

/** The picture. @param {{ now: Here, about: ReturnType<typeof aboutOf> }} props */
function Preview({ now, about }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([sightOf(now, about).svg], { type: "image/svg+xml" }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, []);
  return url ? <img src={url} width={1200} height={630} alt={`${about.question} ${sentenceOf(now, weightsOf(now))}`} /> : null;
}

/** A way to share, with what came of it. @param {{ id: string, title: string, text: string, act?: (told: (text: string) => void) => string | Promise<string> }} props */
function Way({ id, title, text, act }) {
  const [said, setSaid] = useState("");
  const [isBusy, setBusy] = useState(false);
  const start = async () => {
    if (!act || isBusy) return;
    setBusy(true);
    try {
      setSaid(await act(setSaid));
    } catch (error) {
      const why = `Not saved: ${/** @type {Error} */ (error).message}`;
      setSaid(why);
      say(why);
    }
    setBusy(false);
  };
  return (
    <li>
      <button type="button" id={`share-${id}`} aria-disabled={isBusy || undefined} disabled={!act} aria-describedby={`share-${id}-text`} onClick={start}>{title}</button>
      <p class="hint" id={`share-${id}-text`}>{said || text}</p>
    </li>
  );
}

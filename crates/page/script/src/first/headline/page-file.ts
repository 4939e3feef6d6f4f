// The page as a file: the document as it was delivered, with the view and the reader's own samples in it.

import { userData } from "../../state/state";
import { address, view } from "../../state/view";

// What stands there for readers without scripts, before the page starts.
const delivered = document.getElementById("page")?.cloneNode(true);
// The loader has put this script into the head, after the style; an extension may have put in more.
const script = document.currentScript;
for (const put of [script, script?.previousElementSibling]) put?.setAttribute("data-put", "");
/** The title that the page was delivered with. */
export const TITLE = document.title;

export function pageFile(): Blob {
  const copy = document.documentElement.cloneNode(true) as HTMLElement;
  for (const name of Object.keys(copy.dataset)) delete copy.dataset[name];
  if (delivered) copy.querySelector("#page")?.replaceWith(delivered.cloneNode(true));
  (copy.querySelector("title") as HTMLElement).textContent = TITLE;
  for (const put of copy.querySelectorAll("head > [data-put]")) put.remove();
  copy.querySelector("#kept")?.remove();
  const kept = Object.assign(document.createElement("script"), { id: "kept", type: "application/json" });
  kept.textContent = JSON.stringify({ view: address(view.peek()), own: [...userData] }).replaceAll("<", "\\u003c");
  copy.querySelector("#facts")?.after(kept);
  // A line break after it would become a part of the body.
  return new Blob([`<!doctype html>\n${copy.outerHTML}`], { type: "text/html" });
}

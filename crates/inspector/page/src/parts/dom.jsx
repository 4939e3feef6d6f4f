// Small parts that several panels share.

import { signal } from "@preact/signals";

/** Text that a screen reader reads aloud. */
export const said = signal("");
/** @param {string} text */
export const say = (text) => {
  said.value = text;
};

/** @param {string} name @param {Blob} blob */
export function saveFile(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(`Saved ${name}`);
}

/** @param {string} text @param {string} what */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.className = "unseen";
    area.setAttribute("aria-label", "text to copy");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`Copied: ${what}`);
}

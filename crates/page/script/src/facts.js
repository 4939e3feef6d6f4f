// The facts of the page, which `facts.rs` writes.

/** @type {import("./types").PageFacts} */
export const page = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("facts")).textContent ?? "");

/** What a page that a reader has saved holds beside them (`parts/page-file.js`): the address of the view, and the reader's own samples. @type {{ view?: string, own?: [string, import("./types").OwnData][] }} */
export const kept = JSON.parse(document.getElementById("kept")?.textContent ?? "{}");

// The facts of the page, which `facts.rs` writes.

/** @type {import("./types").PageFacts} */
export const page = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("facts")).textContent ?? "");

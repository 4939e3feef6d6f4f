// The facts of the page, which `facts.rs` writes.

import type { UserData, PageFacts } from "./types";

export const page: PageFacts = JSON.parse((document.getElementById("facts") as HTMLElement).textContent ?? "");

/** What a page that a reader has saved holds beside them (`page-file.ts`): the address of the view, and the reader's own samples. */
export const savedPage: { view?: string; own?: [string, UserData][] } = JSON.parse(
  document.getElementById("kept")?.textContent ?? "{}",
);

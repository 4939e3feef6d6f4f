// Puts in the page's style and starts its script, which the page holds packed. The page's policy names the hash of each.

import { held, inflated } from "./model/packed";

/** An element of this kind with what the page holds packed under the same name. */
async function made(name: string) {
  const element = document.createElement(name);
  element.textContent = await inflated(held(name) ?? "").text();
  return element;
}

Promise.all(["style", "script"].map(made))
  .then((elements) => document.head.append(...elements))
  .catch(() =>
    document.getElementById("page")?.prepend("The page cannot start: it needs a browser from 2023 or later."),
  );

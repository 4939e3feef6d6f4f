// Puts in the page's style and starts its script, which the page holds packed. The page's policy names the hash of each.

import { unlzma } from "./engine/lzma.js";
import { bytesOf, held } from "./packed.js";

try {
  for (const name of ["style", "script"]) {
    const { text, length } = /** @type {{ text: string, length: number }} */ (held(name));
    const element = document.createElement(name);
    element.textContent = new TextDecoder().decode(unlzma(bytesOf(text, length)));
    document.head.append(element);
  }
} catch {
  document.getElementById("page")?.prepend("The page cannot start: it needs a browser from 2023 or later.");
}

// Puts in the page's style and starts its script, which the page holds packed. The page's policy names the hash of each.

import { unlzma } from "./engine/lzma.js";
import { bytesOf, held, unpacked } from "./packed.js";

unpacked("style", "deflate-raw").then((style) => {
  const { text, length } = /** @type {{ text: string, length: number }} */ (held("script"));
  const script = unlzma(bytesOf(text, length));
  for (const [name, bytes] of /** @type {[string, ArrayBuffer][]} */ ([["style", style], ["script", script]])) {
    const element = document.createElement(name);
    element.textContent = new TextDecoder().decode(bytes);
    document.head.append(element);
  }
}).catch(() => {
  document.getElementById("page")?.prepend("The page cannot start: it needs a browser from 2023 or later.");
});

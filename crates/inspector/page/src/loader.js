// Starts the page's script, which the page holds packed. The page's policy names the hash of both.

import { unpacked } from "./packed.js";

unpacked("script", "deflate-raw").then((bytes) => {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(/** @type {ArrayBuffer} */ (bytes));
  document.body.append(script);
}).catch(() => {
  document.getElementById("page")?.prepend("The page cannot start: it needs a browser from 2023 or later.");
});

// Samples of the reader's own: pasted or dropped as CSV, and trained on in the page.

import { signal } from "@preact/signals";
import { config, ownData } from "../state.js";
import { change, view } from "../view.js";
import { samplesOf, settingsFor } from "./csv.js";

const wrong = signal("");
let count = 0;

/** @param {string} text @param {string} name */
function take(text, name) {
  try {
    const data = samplesOf(text);
    ownData.set(name, data);
    wrong.value = "";
    const others = Object.fromEntries(Object.entries(view.value.settings).filter(([key]) => !key.startsWith("data.") && key !== "model.attention.padding_token" && key !== "training.epochs"));
    change({ settings: { ...others, ...settingsFor(data, name, config.value?.training.batch_size ?? 16) }, changes: {}, sample: "" });
  } catch (error) {
    wrong.value = `${/** @type {Error} */ (error).message}.`;
  }
}

/** @param {File | undefined} file */
async function takeFile(file) {
  if (!file) return;
  // Two files of one name are two datasets.
  const name = file.name.replace(/[^\w.-]/g, "_");
  take(await file.text(), ownData.has(name) ? `${++count}-${name}` : name);
}

export function OwnData() {
  return (
    <section class="card" id="own-data" aria-labelledby="own-data-title" onDragOver={(event) => event.preventDefault()} onDrop={(event) => { event.preventDefault(); takeFile(event.dataTransfer?.files[0]); }}>
      <h2 id="own-data-title">Your own samples</h2>
      <p class="how">CSV: the first line names the columns <code>label</code>, <code>token_0</code>, <code>token_1</code>, … and, if you like, <code>split</code> (<code>train</code> or <code>test</code>). Tokens are whole numbers from 1. Without splits, the page holds out a fifth. The samples stay in this page; an address does not hold them.</p>
      <form onSubmit={(event) => { event.preventDefault(); take(String(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get("csv")), `pasted-${++count}.csv`); }}>
        <label for="own-csv">Paste samples, or drop a file here</label>
        <textarea id="own-csv" name="csv" rows={5} spellcheck={false} placeholder={"label,token_0,token_1\nspam,7,3\nham,2,5"} aria-describedby="own-csv-said" />
        <div class="row">
          <button>Train on these</button>
          <label>or choose a file <input type="file" accept=".csv,text/csv" onChange={({ currentTarget }) => takeFile(currentTarget.files?.[0])} /></label>
        </div>
        <p id="own-csv-said" class="failed" role="alert">{wrong.value}</p>
      </form>
    </section>
  );
}

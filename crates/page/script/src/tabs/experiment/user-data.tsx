// Samples of the reader's own: pasted or dropped as CSV, and trained on in the page.

import { signal } from "@preact/signals";
import { fixed, sum } from "../../model/numbers";
import { baseRun, config, dataOf, userData, settings, settingsOf } from "../../state/state";
import { change, view } from "../../state/view";
import { textOf, textsOf } from "./user-texts";
import { TrainingState } from "../../draw/training-state";
import type { Config, Ended, Facts } from "../../model/types";

/** Why samples were refused, and the settings that were shown then. */
const wrong = signal({ why: "", of: settings.peek() });
/** What stands in the field: another tab takes the field away. */
const pasted = signal("");

/** Trains on samples: on texts as `headlight train FILE` does, on token ids with the model that is shown. */
async function take(text: string, name: string, isPasted = false) {
  userData.set(name, await textsOf(text, name, isPasted, config.value as Config));
  change({ settings: { "data.file": name }, changes: {}, sample: "" });
}

/** What the core says, as a sentence. */
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`.replace(/`([^`]*)`/g, "“$1”");

/** Does it, or says why that failed; what is shown then stays. */
async function attempt(does: () => Promise<void>) {
  let why = "";
  try {
    await does();
  } catch (error) {
    why = sentence((error as Error).message);
  }
  wrong.value = { why, of: settings.peek() };
}

/** A name of samples that none have yet: two files of one name are two datasets. */
function freeName(name: string) {
  for (let number = 1; ; number++) {
    const found = number > 1 ? `${number}-${name}` : name;
    if (!userData.has(found)) return found;
  }
}

function takeFile(file: File | undefined) {
  if (!file) return;
  const name = `${file.name.replace(/\.[^.]*$/, "").replace(/[^\w.-]/g, "_")}.${/\.tsv$/i.test(file.name) ? "tsv" : "csv"}`;
  attempt(async () => {
    await take(await textOf(file), freeName(name));
    pasted.value = "";
  });
}

export function UserData() {
  const why = wrong.value.of === settings.value ? wrong.value.why : "";
  return (
    <section
      class="card"
      id="own-data"
      aria-labelledby="own-data-title"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        takeFile(event.dataTransfer?.files[0]);
      }}
    >
      <h2 id="own-data-title">Your own texts or samples</h2>
      <p class="how">
        Each line is a label, a comma and a text. Or give a CSV of up to 2 MB: its first line names the columns, such as{" "}
        <code>label,text</code> or, for token ids, <code>label,token_0,token_1</code>. The page trains on texts as{" "}
        <code>headlight train FILE</code> does, to the same weights, and on token ids with the model shown above. It
        holds out a fifth, unless a column <code>split</code> says which (<code>train</code> or <code>test</code>). The
        samples stay in this page; an address does not hold them.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          attempt(() => take(pasted.value, freeName("pasted.csv"), true));
        }}
      >
        <label for="own-csv">Paste texts or samples, or drop a file here</label>
        <textarea
          id="own-csv"
          value={pasted.value}
          onInput={({ currentTarget }) => {
            pasted.value = currentTarget.value;
          }}
          rows={8}
          spellcheck={false}
          placeholder={"good, I liked every minute of it\nbad, What a waste of an evening\n…"}
          aria-describedby="own-csv-said"
        />
        <div class="row">
          <button>Train on these</button>
          <label>
            or choose a file{" "}
            <input
              type="file"
              accept=".csv,.tsv,text/csv"
              onChange={({ currentTarget }) => takeFile(currentTarget.files?.[0])}
            />
          </label>
        </div>
        <p id="own-csv-said" class="failed" role="alert">
          {why}
        </p>
      </form>
      {!why && <Outcome />}
    </section>
  );
}

/** What came of the reader's texts. */
function Outcome() {
  const { settings } = view.value;
  const data = dataOf(settings);
  const run = baseRun.value;
  if (!data || !("table" in data)) return null;
  if (!run || JSON.stringify(settingsOf(run)) !== JSON.stringify(settings)) return <TrainingState />;
  const { brief, config } = data;
  const { words } = config.data;
  const { ended } = run.facts as Facts & { ended: Ended };
  // The most frequent class of the texts to train on.
  const most = brief.train.indexOf(Math.max(...brief.train));
  const held = ended.best?.held_out ?? ended.held_out;
  return (
    <div id="own-outcome" role="status">
      <p>
        <bdi>{config.data.file}</bdi>: {sum(brief.train) + sum(brief.held_out)} {words ? "texts" : "samples"} of{" "}
        {brief.train.length} classes: {sum(brief.train)} to train on
        {words && `, with ${words.vocabulary.length} different words and signs,`} and {sum(brief.held_out)} held out.
      </p>
      <p>
        <b>Held-out accuracy {fixed(Number(held?.accuracy), 3)}</b>
        {ended.best && (
          <>
            {" "}
            (best model, step {ended.best.step} of {run.last})
          </>
        )}
        . Always answering <bdi>“{run.className(most)}”</bdi> gives{" "}
        {fixed(brief.held_out[most] / sum(brief.held_out), 3)}.
      </p>
      <ul>
        {[sentence(brief.choice), ...brief.notes].map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      <p>
        SHA-256 of <code>model.safetensors</code> (step {run.last}), as of{" "}
        <code>
          headlight train <bdi>{Object.keys(settings).length > 1 || !words ? "config.toml" : config.data.file}</bdi>
        </code>
        : <code class="hash">{ended.weights_sha256}</code>
      </p>
      <button
        type="button"
        onClick={() => {
          change({ sample: run.samples[0].key });
          document.getElementById("card")?.scrollIntoView();
        }}
      >
        Look at a {run.facts.held_out ? "held-out text" : "sample"}, and type others
      </button>
    </div>
  );
}

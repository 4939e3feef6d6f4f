// Samples of the reader's own: pasted or dropped as CSV, and trained on in the page.

import { signal } from "@preact/signals";
import { fixed, sum } from "../../model/numbers";
import { baseRun, config, dataOf, userData, settings, settingsOf } from "../../state/state";
import { change, view } from "../../state/view";
import { hasWords } from "../../state/abilities";
import { samplesOf, settingsFor } from "../../model/csv";
import { textOf, textsOf } from "./user-texts";
import { TrainingState } from "../../draw/training-state";
import type { Ended, Facts } from "../../model/types";

/** Why samples were refused, and the settings that were shown then. */
const wrong = signal({ why: "", of: settings.peek() });
/** What stands in the field: another tab takes the field away. */
const pasted = signal("");

/** The smallest token: 0 is [CLS], if samples have it. */
const leastToken = () => (config.value?.data.cls === "none" ? 0 : 1);

/** Trains on samples of token ids. */
function takeTokens(text: string, name: string) {
  const data = samplesOf(text, leastToken());
  userData.set(name, data);
  const others = Object.fromEntries(
    Object.entries(view.value.settings).filter(
      ([key]) => !key.startsWith("data.") && key !== "model.attention.padding_token" && key !== "training.epochs",
    ),
  );
  change({
    settings: { ...others, ...settingsFor(data, name, config.value?.training.batch_size ?? 16) },
    changes: {},
    sample: "",
  });
}

/** Trains on texts, with the config of `headlight train FILE`. */
async function takeTexts(text: string, name: string, isPasted: boolean) {
  userData.set(name, await textsOf(text, name, isPasted));
  change({ settings: { "data.file": name }, changes: {}, sample: "" });
}

async function take(text: string, name: string, isPasted = false) {
  if (hasWords.value && !/^[^\n]*\btoken_\d/i.test(text.trimStart())) await takeTexts(text, name, isPasted);
  else takeTokens(text, name);
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

/** @param least the smallest token */
const tokensHow = (least: number) => (
  <>
    CSV: the first line names the columns <code>label</code>, <code>token_0</code>, <code>token_1</code>, … and, if you
    like, <code>split</code> (<code>train</code> or <code>test</code>). Tokens are whole numbers from {least}. Without
    splits, the page holds out a fifth. The samples stay in this page; an address does not hold them.{" "}
    <code>headlight lab negation</code> writes a page that takes texts.
  </>
);
const TEXTS = (
  <>
    Each line is a label, a comma and a text. Or give a CSV of up to 2 MB: its first line names the columns, such as{" "}
    <code>label,text</code> (with <code>token_0</code>, <code>token_1</code>, … samples are token ids). The page trains
    as <code>headlight train FILE</code> does, to the same weights, and holds out a fifth, unless a column{" "}
    <code>split</code> says which. The texts stay in this page; an address does not hold them.
  </>
);

export function UserData() {
  const [title, how, example] = hasWords.value
    ? ["Your own texts", TEXTS, "good, I liked every minute of it\nbad, What a waste of an evening\n…"]
    : ["Your own samples", tokensHow(leastToken()), "label,token_0,token_1\nspam,7,3\nham,2,5"];
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
      <h2 id="own-data-title">{title}</h2>
      <p class="how">{how}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          attempt(() => take(pasted.value, freeName("pasted.csv"), true));
        }}
      >
        <label for="own-csv">Paste {hasWords.value ? "texts" : "samples"}, or drop a file here</label>
        <textarea
          id="own-csv"
          value={pasted.value}
          onInput={({ currentTarget }) => {
            pasted.value = currentTarget.value;
          }}
          rows={hasWords.value ? 8 : 5}
          spellcheck={false}
          placeholder={example}
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
  const { ended, classes } = run.facts as Facts & { ended: Ended };
  // The most frequent class of the texts to train on.
  const most = brief.train.indexOf(Math.max(...brief.train));
  const held = ended.best?.held_out ?? ended.held_out;
  const name = (at: number) => <bdi>“{classes[at] ?? at}”</bdi>;
  return (
    <div id="own-outcome" role="status">
      <p>
        <bdi>{config.data.file}</bdi>: {sum(brief.train) + sum(brief.held_out)} texts of {brief.train.length} classes:{" "}
        {sum(brief.train)} to train on, with {config.data.words.vocabulary.length} different words and signs, and{" "}
        {sum(brief.held_out)} held out.
      </p>
      <p>
        <b>Held-out accuracy {fixed(Number(held?.accuracy), 3)}</b>
        {ended.best && (
          <>
            {" "}
            (best model, step {ended.best.step} of {run.last})
          </>
        )}
        . Always answering {name(most)} gives {fixed(brief.held_out[most] / sum(brief.held_out), 3)}.
      </p>
      {ended.best && <p>{ended.best.outcome}</p>}
      <ul>
        {[sentence(brief.choice), ...brief.notes].map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
      <p>
        SHA-256 of <code>model.safetensors</code> (step {run.last}), as of{" "}
        <code>
          headlight train <bdi>{Object.keys(settings).length > 1 ? "config.toml" : config.data.file}</bdi>
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
        Look at a held-out text, and type others
      </button>
    </div>
  );
}

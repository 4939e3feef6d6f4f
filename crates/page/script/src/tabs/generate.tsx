// Samples that the model continues, of a model of the next token: those of `headlight generate`.

import { signal } from "@preact/signals";
import { baseRun, current } from "../state/state";
import { Live } from "../sources/live";
import { tokensOf } from "../model/tokens";
import { showUserSample } from "../state/user-samples";
import type { Run } from "../model/run";

const COUNT = 10;

type Drawn = { prompt: number; step: string; samples: [tokens: number[], hasEnded: boolean][] };

/** What was drawn last, of which run. */
const last = signal<{ source: unknown; drawn?: Drawn; why?: string } | null>(null);

function draw(event: SubmitEvent & { currentTarget: HTMLFormElement }) {
  event.preventDefault();
  const [now, run] = [current.peek(), baseRun.peek()];
  if (!now || !(run?.source instanceof Live)) return;
  const { source } = run;
  const form = new FormData(event.currentTarget);
  const number = (name: string) => (form.get(name) === "" ? null : Number(form.get(name)));
  try {
    const prompt = String(form.get("prompt"));
    const { tokens, typed, left } = prompt ? tokensOf(run, prompt) : { tokens: [], typed: [], left: [] };
    const wrong = [...typed.filter(Boolean), ...left];
    if (wrong.length) throw new Error(`The model does not know, or has no place for: ${run.joined(wrong)}`);
    const drawing = { temperature: number("temperature"), top_k: number("top_k"), seed: number("seed"), count: COUNT };
    const { lab, config } = source.trained;
    const { samples } = lab.ask({ operation: "generate", config, tokens: [tokens], drawing }, source.weightsAt(now.at));
    last.value = { source, drawn: { prompt: tokens.length, step: run.stepName(now.at), samples } };
  } catch (error) {
    last.value = { source, why: (error as Error).message };
  }
}

export function GenerateTab() {
  const run = baseRun.value;
  if (!(run?.source instanceof Live)) return <p class="hint">The page generates once it has trained the model.</p>;
  const found = last.value?.source === run.source ? last.value : null;
  return (
    <section id="generate" class="card" aria-labelledby="generate-title">
      <h2 id="generate-title">Let the model continue</h2>
      <p class="how">
        Each {run.unit} is drawn from what the model of the shown step says after those before it: the same as{" "}
        <code>headlight generate</code> draws.
      </p>
      <form class="row" onSubmit={draw}>
        <label>
          Prompt <input name="prompt" autocomplete="off" spellcheck={false} required={run.cls < 0} />
        </label>
        <Field name="temperature" usual={1} required step="any" max={1e6} />
        <Field name="top_k" title="top-k" min={1} placeholder="all" />
        <Field name="seed" usual={0} required max={Number.MAX_SAFE_INTEGER} />
        <button>Generate</button>
      </form>
      <div role="status">
        {found?.why && <p class="failed">{found.why}.</p>}
        {found?.drawn && <Drawn run={run} {...found.drawn} />}
      </div>
    </section>
  );
}

/** A number of the form. */
const Field = ({
  name,
  title = name,
  usual,
  ...limits
}: { name: string; title?: string; usual?: number } & Record<string, unknown>) => (
  <label>
    {title} <input name={name} type="number" class="number" min={0} defaultValue={usual} {...limits} />
  </label>
);

function Drawn({ run, prompt, step, samples }: Drawn & { run: Run }) {
  const text = (tokens: number[]) => run.joined(tokens.map((token) => run.facts.token_strings[token] ?? String(token)));
  return (
    <>
      <p class="hint">
        Of the model at step {step}. A sample can be shown above; “…” has no end within {run.tokenCount} {run.unit}s.
      </p>
      <ol>
        {samples.map(([tokens, hasEnded], at) => (
          <li key={at}>
            <button type="button" class="link" disabled={!tokens.length} onClick={() => showUserSample(tokens, [])}>
              <bdi>
                <b>{text(tokens.slice(0, prompt))}</b>
                {prompt > 0 && prompt < tokens.length && run.joined(["", ""])}
                {text(tokens.slice(prompt))}
              </bdi>
            </button>
            {run.words && !hasEnded && " …"}
          </li>
        ))}
      </ol>
    </>
  );
}

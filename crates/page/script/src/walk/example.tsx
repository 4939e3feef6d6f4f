// A page of worked examples: their stages, a step at a time. Without scripts, the page shows all stages at once.

import { computed, signal } from "@preact/signals";
import { render } from "preact";
import { Announced, Choice } from "../draw/dom";
import { Steps } from "./steps";
import type { Example } from "../model/types";
import { caseStages, numbersOf } from "./example-stages";
import "./example.css";

const example = signal<Example>({ title: "", cases: [] });
const shown = signal(0);
const query = signal(0);
const stage = signal(1);
const current = computed(() => example.value.cases[shown.value]);
const stages = computed(() => caseStages(current.value, query.value));
const queries = computed(() => numbersOf(current.value, "weights")?.rows ?? []);

function openCase(to: number) {
  query.value = 0;
  shown.value = to;
  stage.value = Math.min(stage.value, stages.value.length);
}

function Walkthrough() {
  const { cases } = example.value;
  return (
    <section id="walk" aria-labelledby="walk-title">
      <h2 id="walk-title">Step by step</h2>
      <Steps stages={stages.value} at={stage.value} onMove={(to) => (stage.value = to)}>
        <p class="row">
          {cases.length > 1 && (
            <Choice
              id="case"
              label="Case"
              value={shown.value}
              options={cases.map(({ title }, at) => [at, title ?? String(at)])}
              onChoose={(to) => openCase(Number(to))}
            />
          )}
          {queries.value.length > 1 && (
            <Choice
              id="query"
              label="Query"
              value={query.value}
              options={queries.value.map((token, at) => [at, token])}
              onChoose={(to) => {
                query.value = Number(to);
              }}
            />
          )}
        </p>
        {current.value.about && <p>{current.value.about}</p>}
      </Steps>
      <Announced />
    </section>
  );
}

/** Puts the steps before the document, which stands folded below them. */
export function openWalkthrough(given: Example) {
  example.value = given;
  const root = Object.assign(document.createElement("div"), { id: "walkthrough" });
  const all = document.createElement("details");
  all.append(
    Object.assign(document.createElement("summary"), {
      textContent: "The same as a document, beside the numbers that it prints",
    }),
  );
  const sections = [...document.querySelectorAll("main > section")];
  sections[0].before(root, all);
  all.append(...sections);
  addEventListener("beforeprint", () => {
    all.open = true;
  });
  render(<Walkthrough />, root);
  document.documentElement.dataset.ready = performance.now().toFixed(1);
}

// A way through computations, a stage at a time or all at once: of each its formula, its numbers and its sentence.

import { fixed } from "../model/numbers";
import { Explained } from "../draw/explained";
import { difference } from "./computation";
import { announce, meaningOf } from "../draw/dom";
import type { Grid, Stage } from "./stages";
import type { ComponentChildren } from "preact";
import "./steps.css";

/** Where the arrow keys have work of their own. */
const TAKES_ARROWS = "select, input, textarea, summary, .scroll";

type StepsProps = { stages: Stage[]; at: number; onMove: (at: number) => void; children?: ComponentChildren };

/** @param props `at` counts from 1; 0 shows all */
export function Steps({ stages, at, onMove, children }: StepsProps) {
  const count = stages.length;
  const move = (to: number) => {
    onMove(to);
    const { title, sentence } = stages[to - 1] ?? {};
    announce(to ? `${to} of ${count}: ${title}. ${sentence}` : `All ${count} stages`);
  };
  const step = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const target = event.target as Element;
    if (target.closest(TAKES_ARROWS)) return;
    const to = meaningOf(event, { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 1, End: count });
    if (to === undefined || to < 0 || to > count) return;
    move(to);
    // In the list the focus is where the stage is.
    if (target.closest(".stages"))
      (event.currentTarget.querySelectorAll(".stages button")[to] as HTMLElement | undefined)?.focus();
  };
  const [isFirst, isLast] = [at < 2, at === count];
  return (
    <div class="steps" onKeyDown={step}>
      <div class="row">
        <button type="button" id="stage-before" aria-disabled={isFirst} onClick={() => isFirst || move(at - 1)}>
          ‹ Back
        </button>
        <button type="button" id="stage-next" aria-disabled={isLast} onClick={() => isLast || move(at + 1)}>
          Next ›
        </button>
        <ol class="stages plain" start={0} aria-label="Stages">
          {["All", ...stages.map(({ title }) => title)].map((title, index) => (
            <li key={index}>
              <button
                type="button"
                aria-current={index === at ? "step" : undefined}
                aria-label={index ? `${index} ${title}` : undefined}
                tabIndex={index === at ? 0 : -1}
                onClick={() => move(index)}
              >
                {index || ""} <span class={index ? "name" : ""}>{title}</span>
              </button>
            </li>
          ))}
        </ol>
      </div>
      {children}
      {stages.map(
        (stage, index) =>
          (at === 0 || at === index + 1) && (
            <StageOf key={stage.title} stage={stage} name={`${index + 1} of ${count}: ${stage.title}`} />
          ),
      )}
      <p class="hint">
        ← and → do the same as Back and Next. A framed row is that of the query, or of the key that the sentence names.
      </p>
    </div>
  );
}

function StageOf({ stage, name }: { stage: Stage; name: string }) {
  return (
    <section class="stage" aria-label={name}>
      <h3>
        <Explained text={name} />
      </h3>
      <p class="formula">
        <Formula text={stage.formula} />
      </p>
      <p class="sentence">
        <Explained text={stage.sentence} />
      </p>
      <Grids all={stage.grids} />
      {stage.weights?.length ? (
        <details>
          <summary>The model's weights in this stage</summary>
          <Grids all={stage.weights} />
        </details>
      ) : null}
      {stage.checks && stage.checks.length > 0 && <Check of={stage.checks} isChanged={stage.isChanged} />}
    </section>
  );
}

const Grids = ({ all }: { all: Grid[] }) => (
  <div class="grids">
    {all.map((grid) => (
      <NumberGrid grid={grid} key={grid.name} />
    ))}
  </div>
);

/** Text with what stands low after `_` and high after `^`. */
const Formula = ({ text }: { text: string }) => (
  <>
    {text
      .split(/([_^][A-Za-z0-9]+)/)
      .map((part, at) =>
        part.startsWith("_") ? (
          <sub key={at}>{part.slice(1)}</sub>
        ) : part.startsWith("^") ? (
          <sup key={at}>{part.slice(1)}</sup>
        ) : (
          part
        ),
      )}
  </>
);

/** How far results are from the engine's. */
function Check({ of, isChanged = false }: { of: NonNullable<Stage["checks"]>; isChanged?: boolean }) {
  const most = Math.max(...of.map(([computed, engine]) => difference(computed, engine)));
  const size = Math.max(1, ...of.flatMap(([, engine]) => Array.from(engine, Math.abs)));
  const isFar = !(most <= 1e-5 * size);
  return (
    <p class={isFar ? "check failed" : "check"}>
      {isChanged ? "An intervention takes effect here. " : ""}Largest difference from the engine's numbers:{" "}
      {most === 0 ? "0" : most.toExponential(1)}.
    </p>
  );
}

function NumberGrid({ grid: { name, sign, rows, columns, values, chosen, key, marks } }: { grid: Grid }) {
  const most = Math.max(...values.flat().map((value) => Math.abs(value ?? 0))) || 1;
  return (
    <div class="term">
      {sign && <span>{sign}</span>}
      <div class="scroll" role="group" tabIndex={0} aria-label={name.replace(/[_^]/g, "")}>
        <table class="grid">
          <caption>
            <Formula text={name} />
          </caption>
          <thead>
            <tr>
              <td />
              {columns.map((column, at) => (
                <th scope="col" key={at} class={at === key ? "chosen" : ""}>
                  <bdi>{column}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {values.map((cells, row) => (
              <tr key={row} class={row === chosen ? "chosen" : ""}>
                <th scope="row">
                  <bdi>{rows[row]}</bdi>
                </th>
                {cells.map((value, column) =>
                  value === null ? (
                    <td key={column} class="masked">
                      <span class="unseen">masked</span>
                    </td>
                  ) : (
                    <td
                      key={column}
                      class={`value ${value < 0 ? "negatives" : "positives"}${row === chosen && column === key ? " chosen" : ""}`}
                      style={{ "--share": (Math.abs(value) / most).toFixed(2) }}
                    >
                      {fixed(value, 3)}
                      {marks?.[row][column] && (
                        <span class={marks[row][column].includes("≠") ? "mark differs" : "mark"}>
                          {marks[row][column]}
                        </span>
                      )}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

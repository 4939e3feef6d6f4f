// Seeds: the same training from many starts.

import { computed, signal } from "@preact/signals";
import { settingsText } from "../../model/config";
import { interventionsText } from "../../sources/interventions";
import { METRICS } from "../../model/described";
import { fixed, range, sum } from "../../model/numbers";
import { announce } from "../../draw/dom";
import { hasInterventions } from "../../state/current";
import { openSeed } from "../../state/experiments";
import { SwarmPlot, pointed } from "./swarm-plot";
import { config, dataOf, experiment, origin, shownRun } from "../../state/state";
import { swarmOf, type Seed, type Swarm } from "./swarm";
import { view } from "../../state/view";
import type { Run } from "../../model/run";
import type { Config } from "../../model/types";
import "./seeds.css";

// A first look, and one that shows what is rare.
const FEW = 200;
const MANY = 1000;
const count = (number: number) => number.toLocaleString("en");

export function SeedsTab() {
  const why = whyNot();
  return <div id="seeds">{why ? <p class="hint">{why}</p> : <TrainedHere />}</div>;
}

/** Why no seeds can be trained now; empty if they can. */
function whyNot() {
  const { kind, badge, text } = origin.value;
  if (kind === "training") return "Seeds can be trained here once the page has trained its own run.";
  if (kind !== "live")
    return `This page does not train seeds, since its own training did not succeed. ${badge}: ${text}`;
  // Another seed of the same experiment is on its way.
  const isKnown = swarmOf(config.value as Config, data.value).count > 0;
  if (experiment.value && experiment.value.state !== "trained" && !isKnown)
    return "Seeds can be trained here once the experiment above is trained.";
  return "";
}

// Parts of the view on their own: while steps play, the swarm stays as it is.
const settings = computed(() => {
  const { seed: _, ...others } = view.value.settings;
  return settingsText(others);
});
const data = computed(() => dataOf(view.value.settings));
const changes = computed(() => (hasInterventions.value ? interventionsText(view.value.changes) : ""));

function TrainedHere() {
  const swarm = swarmOf(config.value as Config, data.value);
  const seeds = swarm.seeds.value;
  const hasBoth =
    swarm.positions.length > 0 && seeds.every(({ attention }) => attention.positive && attention.negative);
  const positions = hasBoth ? swarm.positions : [];
  const own = Number(config.value?.seed ?? 0);
  const open = (seed: number) => {
    openSeed(seed);
    announce(`Seed ${seed} is shown`);
  };
  return (
    <section aria-labelledby="swarm-title">
      <h2 id="swarm-title">Other seeds{settings.value ? `: ${settings.value}` : ""}</h2>
      <p class="how">
        A seed sets the weights at the start and the order of the samples; all else is the same as in the training shown
        above.{changes.value ? ` Seeds are trained without the interventions (${changes.value}).` : ""}
      </p>
      <Start swarm={swarm} />
      {seeds.length > 0 && (
        <div class="swarm">
          {hasBoth && (
            <SwarmPlot
              seeds={seeds}
              place={onPositions(positions)}
              names={axisNames(positions)}
              level={swarm.uniform}
              own={own}
              open={open}
            />
          )}
          <div>
            <p id="swarm-sum">{sumOf(seeds, swarm.failed.value, positions, swarm.uniform)}</p>
            {hasBoth && (
              <>
                <p class="hint">
                  <b class="learned">●</b> learned <b class="unlearned">×</b> not learned <b>○</b> shown above. Dashed:
                  uniform attention. Attention is the mean over all training samples of a class, and over heads, in the
                  last layer. Click a dot, or a button of the table, to open its seed.
                </p>
                <Hovered positions={positions} />
              </>
            )}
            {swarm.state.value.name !== "training" && (
              <Table seeds={seeds} positions={positions} own={own} open={open} />
            )}
          </div>
        </div>
      )}
    </section>
  );
}

/** The names of the samples of label 1 or more, and of those of label 0. */
function sides() {
  const run = shownRun.value as Run;
  const name = (label: number) =>
    run.classCount === 2 || run.facts.classes.length ? `“${run.className(label)}”` : `label ${label}`;
  return { positive: run.classCount === 2 ? name(1) : `all but ${name(0)}`, negative: name(0) };
}

/** Whether a position decides the label of every sample: where other positions decide in each, none does. */
function decides(run: Run, position: number) {
  const known = run.samples.filter(({ label }) => label !== null);
  return known.some(({ label }) => label) && known.every(({ marked }) => marked.includes(position));
}

/** Attention on the positions in samples of label 0, and of label 1. */
const onPositions =
  (positions: number[]) =>
  ({ attention: { negative, positive } }: Seed): [number, number] => {
    const on = (shares: number[] | null) => sum(positions.map((position) => shares?.[position] ?? NaN));
    return [on(negative), on(positive)];
  };

const axisNames = (positions: number[]): [string, string] => [
  `attention on position ${positions.join(" and ")} in samples of ${sides().negative}`,
  `the same in samples of ${sides().positive}`,
];

/** What the seeds say, in words. */
function sumOf(seeds: Seed[], failed: Seed[], positions: number[], uniform: number) {
  const learned = seeds.filter(({ learned }) => learned);
  const over = seeds[0].held_out ? "held-out" : "training";
  const parts = [
    `${count(learned.length)} of ${count(seeds.length)} seeds learned: their F1 on ${over} samples is ${seeds[0].learned_from} or more.`,
  ];
  if (positions.length && learned.length) {
    const { positive, negative } = sides();
    const all = learned.map(onPositions(positions));
    const away = all.filter(([, positive]) => positive < uniform).length;
    const too = all.filter(([negative]) => negative > uniform).length;
    const more = all.filter(([negative, positive]) => negative > positive).length;
    const where = `position${positions.length > 1 ? "s" : ""} ${positions.join(" and ")}`;
    parts.push(
      `${count(learned.length - away)} of these look at ${where}: in samples of ${positive} they give it more than uniform attention (${fixed(uniform, 2)}). ${away ? `${count(away)} look${away === 1 ? "s" : ""} away.` : "None looks away."}`,
      `${count(too)} look there in samples of ${negative}, too; ${more ? count(more) : "none"} of them more than in samples of ${positive}.`,
    );
  }
  if (failed.length)
    parts.push(
      `${failed.length} failed: seed ${failed[0].seed} (${failed[0].failed})${failed.length > 1 ? " and others" : ""}.`,
    );
  return parts.join(" ");
}

function Start({ swarm }: { swarm: Swarm }) {
  const { name, why } = swarm.state.value;
  const done = swarm.count;
  const wanted = swarm.wanted.value;
  if (name === "training") {
    const rest = swarm.remaining;
    return (
      <p class="row">
        <button type="button" id="stop-seeds" onClick={() => swarm.stop()}>
          Stop
        </button>
        <progress aria-label="Trained seeds" max={wanted} value={done} />
        {count(done)} of {count(wanted)} seeds{rest !== null && rest > 2 ? `; about ${timeText(rest)} more` : ""}
      </p>
    );
  }
  const next = done < FEW ? FEW : done < MANY ? MANY : 0;
  return (
    <p class="row">
      {next > 0 && (
        <button type="button" id="train-seeds" onClick={() => begin(swarm, next)}>
          {done > 0 && done < FEW ? `Go on to ${FEW} seeds` : `Train ${count(next)} seeds`}
        </button>
      )}
      {name === "failed" && <span class="failed">The training failed: {why}</span>}
      {name === "stopped" && `Stopped after ${count(done)} seeds.`}
    </p>
  );
}

async function begin(swarm: Swarm, wanted: number) {
  const run = shownRun.peek() as Run;
  swarm.positions =
    run.classCount === 2 && run.isShare
      ? range(run.positions).filter((position) => position !== run.readout && decides(run, position))
      : [];
  swarm.uniform = run.uniform(
    run.samples.filter(({ label }) => label),
    run.readout,
    () => swarm.positions,
  );
  await swarm.start(wanted);
  if (swarm.state.peek().name === "ended")
    announce(
      `${count(swarm.count)} seeds trained: ${swarm.seeds.peek().filter(({ learned }) => learned).length} learned`,
    );
}

const timeText = (seconds: number) => (seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} minutes`);

/** The numbers of the seed that the reader points at. */
function Hovered({ positions }: { positions: number[] }) {
  const seed = pointed.value;
  const { positive, negative } = sides();
  // The line has its place without a text, too.
  if (!seed) return <p id="swarm-seed">{"\u00a0"}</p>;
  const [onNegative, onPositive] = onPositions(positions)(seed).map((share) => fixed(share));
  const attention = `${onPositive} in samples of ${positive}, ${onNegative} of ${negative}`;
  const f1 = fixed((seed.held_out ?? seed.train).f1 ?? 0);
  return <p id="swarm-seed">{`Seed ${seed.seed}: ${attention}, F1 ${f1}.`}</p>;
}

const isOpen = signal(false);

type TableProps = { seeds: Seed[]; positions: number[]; own: number; open: (seed: number) => void };

/** All seeds, once the table is opened. */
function Table({ seeds, positions, own, open }: TableProps) {
  const { positive, negative } = sides();
  const splits = (["held_out", "train"] as const).filter((split) => seeds[0][split]);
  const names = [
    ...(positions.length ? [positive, negative] : []),
    ...splits.flatMap((split) => METRICS.map(([, name]) => `${name}, ${split === "train" ? "training" : "held-out"}`)),
  ];
  const numbersOf = (seed: Seed) => [
    ...(positions.length ? onPositions(positions)(seed).reverse() : []),
    ...splits.flatMap((split) => METRICS.map(([key]) => seed[split]?.[key] ?? null)),
  ];
  return (
    <details
      class="seed-table"
      open={isOpen.value}
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>All numbers as a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Seeds">
        <table class="numbers">
          <thead>
            <tr>
              {["seed", "learned", ...names].map((name) => (
                <th scope="col" key={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {isOpen.value &&
              seeds
                .toSorted((one, other) => one.seed - other.seed)
                .map((seed) => (
                  <tr key={seed.seed}>
                    <th scope="row">
                      <button
                        type="button"
                        aria-current={seed.seed === own ? "true" : undefined}
                        aria-label={`Open seed ${seed.seed}`}
                        onClick={() => open(seed.seed)}
                      >
                        {seed.seed}
                      </button>
                    </th>
                    <td>{seed.learned ? "yes" : "no"}</td>
                    {numbersOf(seed).map((value, at) => (
                      <td key={at}>{value === null ? "–" : fixed(value)}</td>
                    ))}
                  </tr>
                ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

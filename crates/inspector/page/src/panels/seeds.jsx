// Seeds: the same training from many starts.

import { computed, signal } from "@preact/signals";
import { settingsText } from "../config.js";
import { changesText } from "../changes.js";
import { METRICS } from "../described.js";
import { cannot } from "../engine/cannot.js";
import { page } from "../facts.js";
import { fixed, range } from "../numbers.js";
import { say } from "../parts/dom.jsx";
import { openSeed } from "../parts/seed.js";
import { Swarm, pointed } from "../parts/swarm.jsx";
import { config, dataOf, experiment, here, origin, shown } from "../state.js";
import { f1Of, isLearned, swarmOf } from "../swarm.js";
import { view } from "../view.js";

/** @typedef {import("../swarm.js").Seed} Seed */

// A first look, and one that shows what is rare.
const FEW = 200;
const MANY = 1000;
const count = (/** @type {number} */ number) => number.toLocaleString("en");

export function Seeds() {
  const why = whyNot();
  return (
    <div id="seeds">
      {why ? (
        <p class="hint" id="no-seeds">
          {why}
        </p>
      ) : (
        <TrainedHere />
      )}
    </div>
  );
}

/** Why no seeds can be trained now; empty if they can. */
function whyNot() {
  const { kind, badge, text } = origin.value;
  const why = cannot();
  if (!config.value || why) {
    const reason = page.runs[0]?.again?.recorded ?? why ?? "it holds only recordings";
    return `This page trains no seeds. ${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
  }
  if (kind === "training") return "Seeds can be trained here once the page has trained its own run.";
  if (kind !== "live")
    return `This page does not train seeds, since its own training did not succeed. ${badge}: ${text}`;
  // Another seed of the same experiment is on its way.
  const isKnown = swarmOf(config.value, data.value).count > 0;
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
const changes = computed(() => (here.value?.isWhatIf ? changesText(view.value.changes) : ""));

/** @param {Seed} seed @param {number[]} positions @param {"positive" | "negative"} name */
const onLabel = ({ attention }, positions, name) =>
  positions.reduce((sum, position) => sum + (attention[name]?.[position] ?? NaN), 0);

function TrainedHere() {
  const swarm = swarmOf(/** @type {import("../types").Config} */ (config.value), data.value);
  const seeds = swarm.seeds.value;
  const hasBoth =
    swarm.positions.length > 0 && seeds.every(({ attention }) => attention.positive && attention.negative);
  const positions = hasBoth ? swarm.positions : [];
  const own = Number(config.value?.seed ?? 0);
  const open = (/** @type {number} */ seed) => {
    openSeed(seed);
    say(`Seed ${seed} is shown`);
  };
  return (
    <section aria-labelledby="swarm-title">
      <h2 id="swarm-title">Other seeds{settings.value ? `: ${settings.value}` : ""}</h2>
      <p class="how">
        A seed sets the weights at the start and the order of the samples; all else is the same as in the training shown
        above.{changes.value ? ` Seeds are trained without the changes (${changes.value}).` : ""}
      </p>
      <Start swarm={swarm} />
      {seeds.length > 0 && (
        <div class="swarm">
          <Swarm
            seeds={seeds}
            axes={hasBoth ? attentionAxes(positions, swarm.uniform) : resultAxes(seeds)}
            own={own}
            open={open}
          />
          <div>
            <p id="swarm-sum">{sumOf(seeds, swarm.failed.value, positions, swarm.uniform)}</p>
            <p class="hint">
              <span class="sign learned" aria-hidden="true">
                ●
              </span>{" "}
              learned{" "}
              <span class="sign unlearned" aria-hidden="true">
                ×
              </span>{" "}
              not learned{" "}
              <span class="sign own" aria-hidden="true">
                ○
              </span>{" "}
              shown above.{" "}
              {hasBoth
                ? "Dashed: uniform attention. Attention is the mean over all training samples of a class, and over heads, in the last layer. "
                : ""}
              Click a dot, or a button of the table, to open its seed.
            </p>
            <Hovered positions={positions} />
            <Table
              seeds={seeds}
              positions={positions}
              uniform={swarm.uniform}
              isTraining={swarm.state.value.name === "training"}
              own={own}
              open={open}
            />
          </div>
        </div>
      )}
    </section>
  );
}

/** @param {number} from @param {number} to */
const fifths = (from, to) => range(6).map((part) => from + (part / 5) * (to - from));

/** The names of the samples of label 1 or more, and of those of label 0. */
function sides() {
  const run = /** @type {import("../run.js").Run} */ (shown.value);
  const name = (/** @type {number} */ label) =>
    run.classCount === 2 || run.facts.classes.length ? `“${run.className(label)}”` : `label ${label}`;
  return { positive: run.classCount === 2 ? name(1) : `all but ${name(0)}`, negative: name(0) };
}

/** Whether a position decides the label of every sample: where other positions decide in each, none does. @param {import("../run.js").Run} run @param {number} position */
function decides(run, position) {
  const known = run.samples.filter(({ label }) => label !== null);
  return known.some(({ label }) => label) && known.every(({ marked }) => marked.includes(position));
}

/** @param {number[]} positions @param {number} uniform @returns {import("../parts/swarm.jsx").Axes} */
function attentionAxes(positions, uniform) {
  const { positive, negative } = sides();
  /** @param {"positive" | "negative"} kind @param {string} name */
  const axis = (kind, name) => ({
    name,
    of: (/** @type {Seed} */ seed) => onLabel(seed, positions, kind),
    from: 0,
    to: 1,
    ticks: fifths(0, 1),
    text: (/** @type {number} */ tick) => fixed(tick, 1),
  });
  return {
    x: axis("negative", `attention on position ${positions.join(" and ")} in samples of ${negative}`),
    y: axis("positive", `the same in samples of ${positive}`),
    level: uniform,
  };
}

/** F1 and the loss, on a logarithmic axis. @param {Seed[]} seeds @returns {import("../parts/swarm.jsx").Axes} */
function resultAxes(seeds) {
  const over = seeds[0]?.held_out ? "on held-out samples" : "on training samples";
  const from = Math.floor(10 * Math.min(0.9, ...seeds.map(f1Of))) / 10;
  const powers = (/** @type {Seed} */ { held_out, train }) => Math.log10(Math.max((held_out ?? train).loss, 1e-9));
  const [low, high] = [Math.floor(Math.min(...seeds.map(powers))), Math.ceil(Math.max(...seeds.map(powers)))];
  return {
    x: { name: `F1 ${over}`, of: f1Of, from, to: 1, ticks: fifths(from, 1), text: (tick) => fixed(tick, 2) },
    y: {
      name: `loss ${over}`,
      of: powers,
      from: low,
      to: Math.max(high, low + 1),
      ticks: range(Math.max(high, low + 1) - low + 1).map((at) => low + at),
      text: (tick) => (tick < -4 ? `1e${tick}` : String(Number((10 ** tick).toPrecision(1)))),
    },
    level: null,
  };
}

/** What the seeds say, in words. @param {Seed[]} seeds @param {Seed[]} failed @param {number[]} positions @param {number} uniform */
function sumOf(seeds, failed, positions, uniform) {
  const learned = seeds.filter(isLearned);
  const parts = [
    `${count(learned.length)} of ${count(seeds.length)} seeds learned: their F1 on ${seeds[0].held_out ? "held-out" : "training"} samples is ${seeds[0].learned_from} or more.`,
  ];
  if (positions.length && learned.length) {
    const { positive, negative } = sides();
    const away = learned.filter((seed) => looksAway(seed, positions, uniform)).length;
    const too = learned.filter((seed) => onLabel(seed, positions, "negative") > uniform).length;
    const more = learned.filter(
      (seed) => onLabel(seed, positions, "negative") > onLabel(seed, positions, "positive"),
    ).length;
    const where = positions.length > 1 ? `positions ${positions.join(" and ")}` : `position ${positions[0]}`;
    const text = (/** @type {number} */ number) => (number ? count(number) : "none");
    parts.push(
      `${count(learned.length - away)} of these look at ${where}: in samples of ${positive} they give it more than uniform attention (${fixed(uniform, 2)}). ${away ? `${count(away)} look${away === 1 ? "s" : ""} away.` : "None looks away."}`,
    );
    parts.push(
      `${count(too)} look there in samples of ${negative}, too; ${text(more)} of them more than in samples of ${positive}.`,
    );
  }
  if (failed.length)
    parts.push(
      `${failed.length} failed: seed ${failed[0].seed} (${failed[0].failed})${failed.length > 1 ? " and others" : ""}.`,
    );
  return parts.join(" ");
}

/** @param {Seed} seed @param {number[]} positions @param {number} uniform */
const looksAway = (seed, positions, uniform) => onLabel(seed, positions, "positive") < uniform;

/** @param {{ swarm: import("../swarm.js").Swarm }} props */
function Start({ swarm }) {
  const { name, why, seconds } = swarm.state.value;
  const done = swarm.count;
  const wanted = swarm.wanted.value;
  if (name === "training") {
    const rest = swarm.remaining;
    return (
      <div class="row">
        <button type="button" id="stop-seeds" onClick={() => swarm.stop()}>
          Stop
        </button>
        <progress aria-label="Trained seeds" max={wanted} value={done} />
        <span>
          {count(done)} of {count(wanted)} seeds{rest !== null && rest > 2 ? `; about ${timeText(rest)} more` : ""}
        </span>
      </div>
    );
  }
  if (name === "asks") {
    return (
      <div class="row" role="group" aria-label="Before a long training">
        <span>
          Training {count(wanted - done)} seeds may take about {timeText(seconds ?? 0)} on this computer. You can stop
          at any time.
        </span>
        <button type="button" id="sure-seeds" onClick={() => begin(swarm, wanted, true)}>
          Train them
        </button>
      </div>
    );
  }
  const next = done < FEW ? FEW : done < MANY ? MANY : 0;
  return (
    <div class="row">
      {next > 0 && (
        <button type="button" id="train-seeds" onClick={() => begin(swarm, next)}>
          {done > 0 && done < FEW ? `Go on to ${FEW} seeds` : `Train ${count(next)} seeds`}
        </button>
      )}
      {name === "failed" && <span class="failed">The training failed: {why}</span>}
      {name === "stopped" && <span>Stopped after {count(done)} seeds.</span>}
    </div>
  );
}

/** @param {import("../swarm.js").Swarm} swarm @param {number} wanted @param {boolean} [isSure] */
async function begin(swarm, wanted, isSure) {
  const run = /** @type {import("../run.js").Run} */ (shown.peek());
  swarm.positions =
    run.classCount === 2 && run.isShare
      ? range(run.positions).filter((position) => position !== run.reader && decides(run, position))
      : [];
  swarm.uniform = run.uniform(
    run.samples.filter(({ label }) => label),
    run.reader,
    () => swarm.positions,
  );
  await swarm.start(wanted, isSure);
  if (swarm.state.peek().name === "ended")
    say(`${count(swarm.count)} seeds trained: ${swarm.seeds.peek().filter(isLearned).length} learned`);
}

/** @param {number} seconds */
const timeText = (seconds) => (seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} minutes`);

/** The numbers of the seed that the reader points at. @param {{ positions: number[] }} props */
function Hovered({ positions }) {
  const seed = pointed.value;
  const { positive, negative } = sides();
  return (
    <p id="swarm-seed">
      {seed
        ? `Seed ${seed.seed}: ${positions.length ? `${fixed(onLabel(seed, positions, "positive"))} in samples of ${positive}, ${fixed(onLabel(seed, positions, "negative"))} of ${negative}, ` : ""}F1 ${fixed(f1Of(seed))}.`
        : "\u00a0"}
    </p>
  );
}

/** Which seeds the table lists, and how many of them. */
const listed = signal("all");
const isOpen = signal(false);
const room = signal(100);

/** @param {{ seeds: Seed[], positions: number[], uniform: number, isTraining: boolean, own: number, open: (seed: number) => void }} props */
function Table({ seeds, positions, uniform, isTraining, own, open }) {
  if (isTraining) return <p class="hint">The table follows when the training has ended.</p>;
  const sorted = seeds.toSorted((one, other) => one.seed - other.seed);
  const kinds = {
    all: sorted,
    unlearned: sorted.filter((seed) => !isLearned(seed)),
    ...(positions.length
      ? { away: sorted.filter((seed) => isLearned(seed) && looksAway(seed, positions, uniform)) }
      : {}),
  };
  const names = { all: "all", unlearned: "not learned", away: "looks away" };
  const kind = listed.value in kinds ? /** @type {keyof typeof kinds} */ (listed.value) : "all";
  const rows = /** @type {Seed[]} */ (kinds[kind]);
  const { positive, negative } = sides();
  const attention = positions.length ? [positive, negative] : [];
  const columns = [
    "seed",
    "learned",
    ...attention,
    ...[...(seeds[0].held_out ? ["held-out"] : []), "training"].flatMap((split) =>
      METRICS.map(([, name]) => `${name}, ${split}`),
    ),
  ];
  const numbersOf = (/** @type {Seed} */ { train, held_out, ...seed }) => [
    ...(positions.length
      ? [
          onLabel(/** @type {Seed} */ (seed), positions, "positive"),
          onLabel(/** @type {Seed} */ (seed), positions, "negative"),
        ]
      : []),
    ...[held_out, train].flatMap((measured) => (measured ? METRICS.map(([key]) => measured[key]) : [])),
  ];
  const text = (/** @type {number | null} */ value) => (value === null ? "–" : fixed(value));
  return (
    <details
      class="seed-table"
      open={isOpen.value}
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>All numbers as a table</summary>
      <div class="row">
        <label>
          Seeds{" "}
          <select
            id="listed-seeds"
            value={kind}
            onChange={(event) => {
              listed.value = event.currentTarget.value;
              room.value = 100;
            }}
          >
            {Object.entries(kinds).map(([name, { length }]) => (
              <option key={name} value={name}>
                {names[/** @type {keyof typeof names} */ (name)]} ({length})
              </option>
            ))}
          </select>
        </label>
      </div>
      <div class="scroll" tabIndex={0} role="region" aria-label="Seeds">
        <table class="numbers">
          <thead>
            <tr>
              {columns.map((column) => (
                <th scope="col" key={column}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {isOpen.value &&
              rows.slice(0, room.value).map((seed) => (
                <tr key={seed.seed}>
                  <th scope="row">
                    <button
                      type="button"
                      aria-current={seed.seed === own ? "true" : undefined}
                      aria-label={`Open seed ${seed.seed}`}
                      onClick={() => open(seed.seed)}
                      onFocus={() => {
                        pointed.value = seed;
                      }}
                      onBlur={() => {
                        pointed.value = null;
                      }}
                    >
                      {seed.seed}
                    </button>
                  </th>
                  <td>{isLearned(seed) ? "yes" : "no"}</td>
                  {numbersOf(seed).map((value, at) => (
                    <td key={at}>{text(value)}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
        {rows.length > room.value && (
          <button
            type="button"
            onClick={() => {
              room.value += 100;
            }}
          >
            Show 100 more of {count(rows.length - room.value)}
          </button>
        )}
      </div>
    </details>
  );
}

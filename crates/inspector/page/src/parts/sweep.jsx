// A sweep's seeds (`inspect --sweep`): the attention of the position that the class is read from, over all of them, and the page's own runs to compare.

import { fixed, range } from "../numbers.js";
import { NumberTable } from "./dom.jsx";

/** @typedef {import("../types").SweepSeeds} SweepSeeds */
/** @typedef {import("../run.js").Run} Run */

const SIDES = /** @type {const} */ ({ positive: "positives", negative: "negatives" });
const classesOf = (/** @type {SweepSeeds} */ seeds) => /** @type {(keyof typeof SIDES)[]} */ (Object.keys(SIDES)).filter((name) => seeds[name]);
const figuresOf = (/** @type {SweepSeeds} */ seeds, /** @type {keyof typeof SIDES} */ name) => /** @type {import("../types").SeedFigures} */ (seeds[name]);
const shareText = (/** @type {number} */ part, /** @type {number} */ whole) => `${fixed(100 * part / whole, 1)}%`;

/** Whether a position decides the label of every sample: where other positions decide in each, none does. @param {Run} run @param {number} position */
export function decides(run, position) {
  const known = run.samples.filter(({ label }) => label !== null);
  return known.some(({ label }) => label) && known.every(({ marked }) => marked.includes(position));
}

/** The names of the samples of label 1 or more, and of those of label 0. @param {Run} run @returns {Record<keyof typeof SIDES, string>} */
export function sidesOf(run) {
  const name = (/** @type {number} */ label) => run.classCount === 2 || run.facts.classes.length ? `“${run.className(label)}”` : `label ${label}`;
  return { positive: run.classCount === 2 ? name(1) : `all but ${name(0)}`, negative: name(0) };
}

/** @param {{ seeds: SweepSeeds, run: Run }} props */
export function Sweep({ seeds, run }) {
  const { heads } = run.facts;
  const failed = seeds.failed ? ` ${seeds.failed} other seeds failed and are left out.` : "";
  return (
    <section class="sweep" aria-labelledby="sweep-title">
      <h2 id="sweep-title">A sweep: {seeds.count} seeds</h2>
      <p class="how">Attention of {run.readerName} in the last layer: {heads > 1 ? `mean of ${heads} heads and ` : "mean "}of all {seeds.over ?? "training"} samples of a class, then mean and standard deviation over the {seeds.count} seeds of <bdi>{seeds.name}</bdi>.{failed}</p>
      <ul>
        {deciding(seeds, run).map((line) => <li key={line}>{line}</li>)}
        {seeds.own.map(({ name, over }) => <li key={name}><bdi>{name}</bdi>, for comparison: {over}.</li>)}
      </ul>
      <div class="scroll" tabIndex={0} role="region" aria-label="Bars over seeds"><Bars seeds={seeds} run={run} /></div>
      <p class="hint">By position. Filled: samples of {sidesOf(run).positive}; outlined: samples of {sidesOf(run).negative}; lines: one standard deviation; narrow: the page's own runs, in the order of the list above.</p>
      <Table seeds={seeds} run={run} />
    </section>
  );
}

/** For each position that decides the label, the seeds that attend to it. @param {SweepSeeds} seeds @param {Run} run */
function deciding({ count, positive, harder }, run) {
  const names = sidesOf(run);
  return range(run.positions).filter((position) => decides(run, position)).map((position) => {
    const most = positive && `${positive.most[position]} (${shareText(positive.most[position], count)}) attend to it most in samples of ${names.positive}`;
    const more = harder && `${harder[position]} (${shareText(harder[position], count)}) attend to it more in samples of ${names.positive} than of ${names.negative}`;
    return `◆ Position ${position} decides the label: of ${count} seeds ${[most, more].filter(Boolean).join(", and ")}.`;
  });
}

/** For each position and class, a wide bar for the mean and a narrow bar for each of the page's runs. @param {{ seeds: SweepSeeds, run: Run }} props */
function Bars({ seeds, run }) {
  const classes = classesOf(seeds);
  const block = 26 + 8 * seeds.own.length;
  const group = classes.length * block + 16;
  const [width, height] = [48 + run.positions * group, 214];
  const top = Math.min(run.isShare ? 1 : Infinity, Math.ceil(4 * Math.max(...classes.flatMap((name) => figuresOf(seeds, name).mean)) + 0.5) / 4);
  const yOf = (/** @type {number} */ value) => 190 - 180 * Math.min(top, Math.max(0, value)) / top;
  const bar = (/** @type {string} */ key, /** @type {number} */ x, /** @type {number} */ wide, /** @type {number} */ value, /** @type {string} */ style) => <rect key={key} x={x} width={wide} y={yOf(value)} height={190 - yOf(value)} class={`column ${style}`} />;
  return (
    <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label="Bars of the means over seeds, by position; the numbers are in the table below">
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <line class="rule" x1={40} x2={width} y1={yOf(top * share)} y2={yOf(top * share)} />
          <text class="tick end" x={34} y={yOf(top * share) + 4}>{fixed(top * share, 2)}</text>
        </g>
      ))}
      {range(run.positions).map((position) => (
        <g key={position}>
          {classes.flatMap((name, index) => {
            const { mean, deviation } = figuresOf(seeds, name);
            const x = 52 + position * group + index * block;
            const [low, high] = [-1, 1].map((sign) => yOf(mean[position] + sign * (deviation?.[position] ?? 0)));
            return [
              bar(name, x, 18, mean[position], SIDES[name]),
              deviation && <path key={`${name} deviation`} class="cursor" d={`M${x + 9} ${low}V${high}M${x + 5} ${low}h8M${x + 5} ${high}h8`} />,
              ...seeds.own.map((own, at) => own[name] && bar(`${name} ${at}`, x + 20 + at * 8, 6, own[name][position], "own")),
            ];
          })}
          <text class="tick middle" x={52 + position * group + group / 2 - 8} y={208}>{decides(run, position) ? "◆ " : ""}{position}</text>
        </g>
      ))}
    </svg>
  );
}

/** @param {{ seeds: SweepSeeds, run: Run }} props */
function Table({ seeds, run }) {
  const classes = classesOf(seeds);
  const names = sidesOf(run);
  const columns = ["position", ...classes.flatMap((name) => [`${names[name]}: mean`, "standard deviation", "highest of the row", ...seeds.own.map((own) => `${names[name]}: ${own.name}`)]), ...(seeds.harder ? [`more in ${names.positive}`] : [])];
  const rows = range(run.positions).map((position) => [`${decides(run, position) ? "◆ " : ""}${position}`, ...classes.flatMap((name) => {
    const { mean, deviation, most } = figuresOf(seeds, name);
    return [mean[position], deviation ? deviation[position] : "–", shareText(most[position], seeds.count), ...seeds.own.map((own) => own[name] ? own[name][position] : "–")];
  }), ...(seeds.harder ? [shareText(seeds.harder[position], seeds.count)] : [])]);
  return <NumberTable id="seeds" title="The same as a table" text={`Shares of seeds: those whose attention is highest at the position, and those that attend to it more in samples of ${names.positive} than of ${names.negative}.`} columns={columns} rows={rows} />;
}

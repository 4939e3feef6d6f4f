// A sweep's seeds: the attention of [CLS] over all of them, and the page's own runs to compare.

sections.push({ start: showSeeds });

function showSeeds() {
  const { seeds } = page;
  if (!seeds) return;
  const failed = seeds.failed ? ` ${seeds.failed} other seeds failed and are left out.` : "";
  addSection("seeds", `Over ${seeds.count} seeds`).append(
    make("p", { class: "how" }, `Attention of [CLS] in the last block: ${facts.heads > 1 ? `mean of ${facts.heads} heads and ` : "mean "}of all training samples of a class, then mean and standard deviation over the ${seeds.count} seeds of ${seeds.name}.${failed}`),
    make("ul", {}, ...deciding(seeds).map((line) => make("li", {}, line)), ...seeds.own.map(({ name, over }) => make("li", {}, isolate(name), `, for comparison: ${over}.`))),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Bars over seeds" }, seedBars(seeds)),
    make("p", { class: "hint" }, "By position. Filled: positive samples; outlined: negative samples; lines: one standard deviation; narrow: the page's own runs, in the order of the list above."),
    seedTable(seeds));
}

const SIDES = { positive: "positives", negative: "negatives" };
const shareText = (part, whole) => `${fixed(100 * part / whole, 1)}%`;
const positives = () => range(facts.samples.length).filter((index) => facts.samples[index].label > 0);
const decides = (position) => positives().length > 0 && positives().every((index) => marked(position, index));

// For each position that decides the label, the seeds that attend to it.
function deciding({ count, positive, harder }) {
  return range(P).filter(decides).map((position) => {
    const most = positive && `${positive.most[position]} (${shareText(positive.most[position], count)}) attend to it most in positive samples`;
    const more = harder && `${harder[position]} (${shareText(harder[position], count)}) attend to it more in positive samples than in negative ones`;
    return `◆ Position ${position} decides the label: of ${count} seeds ${[most, more].filter(Boolean).join(", and ")}.`;
  });
}

// For each position and class, a wide bar for the mean and a narrow bar for each of the page's runs.
function seedBars(seeds) {
  const classes = Object.keys(SIDES).filter((name) => seeds[name]);
  const block = 26 + 8 * seeds.own.length;
  const group = classes.length * block + 16;
  const [width, height] = [48 + P * group, 214];
  const top = Math.min(1, Math.ceil(4 * Math.max(...classes.flatMap((name) => seeds[name].mean)) + 0.5) / 4);
  const yOf = (value) => 190 - 180 * Math.min(top, Math.max(0, value)) / top;
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Bars of the means over seeds, by position; the numbers are in the table below" });
  const bar = (x, wide, value, style) => picture.append(draw("rect", { x, width: wide, y: yOf(value), height: 190 - yOf(value), class: style }));
  for (const share of [0, 0.5, 1]) {
    const y = yOf(top * share);
    picture.append(draw("line", { x1: 40, x2: width, y1: y, y2: y, class: "rule" }), draw("text", { x: 34, y: y + 4, class: "tick end" }, fixed(top * share, 2)));
  }
  for (const position of range(P)) {
    classes.forEach((name, index) => {
      const { mean, deviation } = seeds[name];
      const x = 52 + position * group + index * block;
      bar(x, 18, mean[position], `column ${SIDES[name]}`);
      if (deviation) {
        const [low, high] = [-1, 1].map((sign) => yOf(mean[position] + sign * deviation[position]));
        picture.append(draw("path", { d: `M${x + 9} ${low}V${high}M${x + 5} ${low}h8M${x + 5} ${high}h8`, class: "cursor" }));
      }
      seeds.own.forEach((run, at) => { if (run[name]) bar(x + 20 + at * 8, 6, run[name][position], "column own"); });
    });
    picture.append(draw("text", { x: 52 + position * group + group / 2 - 8, y: 208, class: "tick middle" }, `${decides(position) ? "◆ " : ""}${position}`));
  }
  return picture;
}

function seedTable(seeds) {
  const classes = Object.keys(SIDES).filter((name) => seeds[name]);
  const columns = ["position", ...classes.flatMap((name) => [`${name}: mean`, "standard deviation", "highest of the row", ...seeds.own.map((run) => `${name}: ${run.name}`)]), ...(seeds.harder ? ["more in positive"] : [])];
  const rows = range(P).map((position) => [`${decides(position) ? "◆ " : ""}${position}`, ...classes.flatMap((name) => {
    const { mean, deviation, most } = seeds[name];
    return [mean[position], deviation ? deviation[position] : "–", shareText(most[position], seeds.count), ...seeds.own.map((run) => run[name] ? run[name][position] : "–")];
  }), ...(seeds.harder ? [shareText(seeds.harder[position], seeds.count)] : [])]);
  return table("seeds", "The same as a table", "Shares of seeds: those whose attention is highest at the position, and those that attend to it more in positive samples than in negative ones.", columns, rows);
}

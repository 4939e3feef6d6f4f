// The matrix: a grid of cells with numbers, or a picture if there are too many cells.

sections.push({ show: showMatrices });

const MOST_CELLS = 32;
const grids = [];

// All that is needed to draw or save the matrix of a place: a run, a sample and a step.
function panel(id, place) {
  const { run, sample, step } = place;
  return within(run, () => ({
    id, run: runName(run), sample: sampleKey(sample), step: facts.steps[step], show: view.show, title: title(place),
    scale: scaleOf(view.show, run),
    cells: ofRun(run, () => matrix(sample, step)),
    tokens: range(P).map((position) => tokenAt(position, sample)),
    marks: range(P).map((position) => marked(position, sample)),
  }));
}

function panels() {
  const now = panel("now", view);
  if (!view.pin) return [now];
  const pinned = panel("pinned", view.pin);
  pinned.title = `Pinned: ${pinned.title}`;
  // The difference of a weight and a standard deviation has no meaning.
  if ((view.run === "deviation") !== (view.pin.run === "deviation")) return [now, pinned];
  const cells = now.cells.map((cell, index) => cell - pinned.cells[index]);
  const show = view.show === "scores" ? "scores" : "difference";
  return [now, pinned, { ...now, id: "difference", show, scale: scaleOf(show), cells, title: "Difference: shown minus pinned" }];
}

const SHOWN = { weights: "attention weights", scores: "scores", uniform: "weights minus uniform" };

function title({ run, sample, step }) {
  const parts = [SHOWN[view.show], sampleName(sample), `step ${stepName(step)}`, `layer ${view.layer}`, `head ${view.head}`];
  if (runs.length > 1) parts.unshift(runName(run));
  if (isWhatIf()) parts.unshift(`WHAT IF temperature × ${fixed(view.temperature, 2)}${view.causal ? ", causal mask" : ""}`);
  return parts.join(" · ");
}

function showMatrices() {
  const all = panels();
  const home = byId("matrices");
  home.classList.toggle("what-if", isWhatIf());
  home.classList.toggle("several", all.length > 1);
  while (grids.length > all.length) grids.pop().root.remove();
  all.forEach((panel, index) => {
    if (!grids[index]) {
      grids[index] = P > MOST_CELLS ? makePicture() : makeGrid();
      home.append(grids[index].root);
    }
    grids[index].update(panel);
  });
  showScale();
}

function makeGrid() {
  const caption = make("caption");
  const corner = make("td", { class: "corner" }, "query \\ key");
  const columns = Array.from({ length: P }, () => make("th", { scope: "col" }));
  const rows = Array.from({ length: P }, () => make("th", { scope: "row" }));
  const cells = Array.from({ length: P * P }, (_, index) => make("td", {
    role: "gridcell", tabindex: -1,
    onclick: () => select(Math.floor(index / P), index % P, true),
    onkeydown: (event) => moveBy(event, (cell) => cells[cell].focus()),
  }));
  const body = rows.map((row, query) => make("tr", {}, row, ...cells.slice(query * P, query * P + P)));
  const table = make("table", { role: "grid", class: `heatmap ${P > 12 ? "small" : ""}` }, caption, make("thead", {}, make("tr", {}, corner, ...columns)), make("tbody", {}, ...body));
  const decimals = P > 12 ? 2 : 4;

  function update(panel) {
    setText(caption, panel.title);
    table.id = `grid-${panel.id}`;
    for (let position = 0; position < P; position++) {
      for (const name of [columns[position], rows[position]]) {
        const token = panel.tokens[position];
        const mark = panel.marks[position];
        name.replaceChildren(mark ? "◆ " : "", make("span", { class: "at" }, String(position)), " ", isolate(token));
        name.title = `position ${position}: ${token}${mark ? ", decides the label" : ""}`;
        name.classList.toggle("marked", mark);
      }
      rows[position].classList.toggle("chosen", position === view.query);
    }
    panel.cells.forEach((value, index) => {
      const [query, key] = [Math.floor(index / P), index % P];
      const cell = cells[index];
      const { fill: back, ink } = colours(value, panel.scale);
      setText(cell, fixed(value, decimals));
      cell.style.backgroundColor = back;
      cell.style.color = ink;
      cell.setAttribute("aria-label", reading(panel, query, key));
      const chosen = query === view.query && key === view.key;
      cell.tabIndex = chosen ? 0 : -1;
      cell.setAttribute("aria-selected", String(chosen));
      cell.classList.toggle("chosen-row", query === view.query);
      cell.classList.toggle("marked", panel.marks[key]);
    });
  }
  return { root: make("div", { class: "scroll" }, table), update };
}

// A cell in words.
const reading = (panel, query, key) => `query ${query}: ${panel.tokens[query]}, key ${key}: ${panel.tokens[key]}, ${fixed(panel.cells[query * P + key])}`;

// One pixel per cell, under a drawing of the axes and of the chosen cell.
function makePicture() {
  const caption = make("p", { class: "caption" });
  const size = Math.max(3, Math.min(12, Math.floor(768 / P)));
  const [left, top, side] = [96, 40, P * size];
  const [width, height] = [left + side + 8, top + side + 8];
  const canvas = make("canvas", {
    width: P, height: P, tabindex: 0, role: "img",
    onclick: (event) => {
      const box = canvas.getBoundingClientRect();
      const place = (at, start, extent) => Math.min(P - 1, Math.max(0, Math.floor((at - start) / extent * P)));
      select(place(event.clientY, box.top, box.height), place(event.clientX, box.left, box.width), true);
    },
    onkeydown: (event) => moveBy(event, () => {}),
  });
  const percent = (part, whole) => `${100 * part / whole}%`;
  Object.assign(canvas.style, { left: percent(left, width), top: percent(top, height), width: percent(side, width), height: percent(side, height) });
  const axes = draw("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  const plot = make("div", { class: "plot" }, canvas, axes);
  plot.style.width = `${width}px`;
  const chosen = make("p", { role: "status" });

  function update(panel) {
    setText(caption, `${panel.title}. ${P} positions: too many for a number in each cell. The numbers of the chosen query are below.`);
    const context = canvas.getContext("2d");
    panel.cells.forEach((value, index) => {
      context.fillStyle = colours(value, panel.scale).fill;
      context.fillRect(index % P, Math.floor(index / P), 1, 1);
    });
    axes.replaceChildren(
      draw("text", { x: left - 6, y: top - 26, class: "tick end" }, "query ↓"), draw("text", { x: left, y: top - 26, class: "tick" }, "key →"),
      ...range(P).flatMap((position) => names(panel, position)),
      draw("rect", { x: left, y: top + view.query * size, width: side, height: size, class: "chosen" }),
      draw("rect", { x: left + view.key * size, y: top + view.query * size, width: size, height: size, class: "chosen" }));
    const text = reading(panel, view.query, view.key);
    canvas.setAttribute("aria-label", `${panel.title}; ${text}`);
    setText(chosen, text);
  }

  // A position on both axes, if there is room; positions that decide the label always.
  function names(panel, position) {
    const middle = (position + 0.5) * size;
    const mark = panel.marks[position];
    const room = (wanted) => mark || position % Math.ceil(wanted / size) === 0;
    const short = shorten(panel.tokens[position], 8);
    return [
      room(24) ? draw("text", { x: left + middle, y: top - (mark ? 14 : 4), class: "tick middle" }, `${mark ? "◆" : ""}${position}`) : null,
      mark ? draw("line", { x1: left + middle, x2: left + middle, y1: top - 11, y2: top, class: "cursor" }) : null,
      room(11) ? draw("text", { x: left - 5, y: top + middle + 4, class: "tick end" }, `${mark ? "◆" : ""}${position}: ${short}`) : null,
    ].filter(Boolean);
  }
  return { root: make("div", { class: "scroll picture" }, caption, plot, chosen), update };
}

function select(query, key, keep) {
  change({ query, key }, keep);
}

// The arrow keys, Home and End, within the matrix.
function moveBy(event, focus) {
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -P], End: [0, P] };
  const move = moves[event.key];
  if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const within = (value) => Math.min(P - 1, Math.max(0, value));
  select(within(view.query + move[0]), within(view.key + move[1]), false);
  focus(view.query * P + view.key);
}

function showScale() {
  const scale = scaleOf(view.show, view.run);
  const bar = draw("svg", { viewBox: "0 0 330 38", role: "img", "aria-label": `colours from ${fixed(scale.from, 2)} to ${fixed(scale.to, 2)}` });
  for (let part = 0; part < 64; part++) {
    const value = scale.from + (scale.to - scale.from) * (part + 0.5) / 64;
    bar.append(draw("rect", { x: 16 + part * 4.5, y: 2, width: 4.6, height: 14, fill: colours(value, scale).fill }));
  }
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const value = scale.from + (scale.to - scale.from) * share;
    bar.append(draw("text", { x: 16 + share * 288, y: 32, class: "tick middle" }, (share === 1 && scale.more ? "≥ " : "") + fixed(value, 2)));
  }
  byId("scale").replaceChildren(bar);
}

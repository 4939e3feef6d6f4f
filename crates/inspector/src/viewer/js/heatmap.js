// The matrix: a grid of cells with numbers, or a picture where there are too many.

const MOST_CELLS = 32;
const grids = [];

function panels() {
  const now = { id: "now", sample: view.sample, step: view.step, show: view.show, cells: matrix(view.sample, view.step) };
  now.title = title(now);
  if (!view.pin) return [now];
  const pinned = { id: "pinned", ...view.pin, show: view.show, cells: matrix(view.pin.sample, view.pin.step) };
  pinned.title = `Pinned: ${title(pinned)}`;
  const cells = now.cells.map((cell, index) => cell - pinned.cells[index]);
  const show = view.show === "scores" ? "scores" : "difference";
  return [now, pinned, { id: "difference", sample: view.sample, step: view.step, show, cells, title: "Difference: shown minus pinned" }];
}

const SHOWN = { weights: "attention weights", scores: "scores", uniform: "weights minus uniform" };

function title({ sample, step }) {
  const parts = [SHOWN[view.show], sampleName(sample), `step ${stepName(step)}`, `layer ${view.layer}`, `head ${view.head}`];
  if (isWhatIf()) parts.unshift(`WHAT IF temperature × ${fixed(view.temperature, 2)}${view.causal ? ", causal mask" : ""}`);
  return parts.join(" · ");
}

function showMatrices() {
  const all = panels();
  const home = byId("matrices");
  home.classList.toggle("what-if", isWhatIf());
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
    const scale = scaleOf(panel.show);
    for (let position = 0; position < P; position++) {
      for (const name of [columns[position], rows[position]]) {
        const token = tokenAt(position, panel.sample);
        const mark = marked(position, panel.sample);
        name.replaceChildren(`${mark ? "◆ " : ""}${position} `, own(token));
        name.title = `position ${position}: ${token}${mark ? ", decides the label" : ""}`;
        name.classList.toggle("marked", mark);
      }
      rows[position].classList.toggle("chosen", position === view.query);
    }
    panel.cells.forEach((value, index) => {
      const [query, key] = [Math.floor(index / P), index % P];
      const cell = cells[index];
      const { fill: back, ink } = colours(value, scale);
      setText(cell, fixed(value, decimals));
      cell.style.backgroundColor = back;
      cell.style.color = ink;
      cell.setAttribute("aria-label", `query ${query} ${tokenAt(query, panel.sample)}, key ${key} ${tokenAt(key, panel.sample)}: ${fixed(value)}`);
      const chosen = query === view.query && key === view.key;
      cell.tabIndex = chosen ? 0 : -1;
      cell.setAttribute("aria-selected", String(chosen));
      cell.classList.toggle("chosen-row", query === view.query);
      cell.classList.toggle("marked", marked(key, panel.sample));
    });
  }
  return { root: make("div", { class: "scroll" }, table), update };
}

function makePicture() {
  const caption = make("p", { class: "caption" });
  const size = Math.max(3, Math.min(12, Math.floor(768 / P)));
  const canvas = make("canvas", {
    width: P * size, height: P * size, tabindex: 0, role: "img",
    onclick: (event) => {
      const box = canvas.getBoundingClientRect();
      const place = (at, start, extent) => Math.min(P - 1, Math.max(0, Math.floor((at - start) / extent * P)));
      select(place(event.clientY, box.top, box.height), place(event.clientX, box.left, box.width), true);
    },
    onkeydown: (event) => moveBy(event, () => {}),
  });
  const reading = make("p", { role: "status" });

  function update(panel) {
    setText(caption, `${panel.title}. ${P} positions: too many for a number in each cell; those of the chosen query are below.`);
    const scale = scaleOf(panel.show);
    const context = canvas.getContext("2d");
    panel.cells.forEach((value, index) => {
      context.fillStyle = colours(value, scale).fill;
      context.fillRect(index % P * size, Math.floor(index / P) * size, size, size);
    });
    context.strokeStyle = "#ff2d9b";
    context.lineWidth = 2;
    context.strokeRect(0, view.query * size, P * size, size);
    context.strokeRect(view.key * size, view.query * size, size, size);
    const value = panel.cells[view.query * P + view.key];
    const text = `query ${view.query} ${tokenAt(view.query, panel.sample)}, key ${view.key} ${tokenAt(view.key, panel.sample)}: ${fixed(value)}`;
    canvas.setAttribute("aria-label", `${panel.title}; ${text}`);
    setText(reading, text);
  }
  return { root: make("div", { class: "scroll picture" }, caption, canvas, reading), update };
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
  const scale = scaleOf(view.show);
  const bar = draw("svg", { viewBox: "0 0 320 38", role: "img", "aria-label": `colours from ${fixed(scale.from, 2)} to ${fixed(scale.to, 2)}` });
  for (let part = 0; part < 64; part++) {
    const value = scale.from + (scale.to - scale.from) * (part + 0.5) / 64;
    bar.append(draw("rect", { x: 16 + part * 4.5, y: 2, width: 4.6, height: 14, fill: colours(value, scale).fill }));
  }
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const value = scale.from + (scale.to - scale.from) * share;
    bar.append(draw("text", { x: 16 + share * 288, y: 32, class: "tick middle" }, fixed(value, 2)));
  }
  byId("scale").replaceChildren(bar);
}

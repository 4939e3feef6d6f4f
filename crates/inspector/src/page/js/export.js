// Saves the view as a file.

sections.push({
  start() {
    byId("save-csv").addEventListener("click", () => save("csv", new Blob([exportCsv()], { type: "text/csv" })));
    byId("save-json").addEventListener("click", () => save("json", new Blob([exportJson()], { type: "application/json" })));
    byId("save-svg").addEventListener("click", () => save("svg", new Blob([exportSvg()], { type: "image/svg+xml" })));
    byId("save-png").addEventListener("click", exportPng);
  },
});

function save(ending, blob) {
  const name = `attention-${runs.length > 1 ? `run-${view.run}-` : ""}${sampleKey(view.sample)}-step-${stepName(view.step)}-layer-${view.layer}-head-${view.head}-${view.show}.${ending}`;
  const url = URL.createObjectURL(blob);
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(`Saved ${name}`);
}

function exportCsv() {
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const lines = ["panel,run,sample,step,layer,head,show,query,query_token,key,key_token,value"];
  for (const panel of panels()) {
    panel.cells.forEach((value, index) => {
      const [query, key] = [Math.floor(index / P), index % P];
      lines.push([panel.id, quoted(panel.run), panel.sample, panel.step ?? "unknown", view.layer, view.head, isWhatIf() ? `${panel.show} (what if)` : panel.show, query, quoted(panel.tokens[query]), key, quoted(panel.tokens[key]), fixed(value)].join(","));
    });
  }
  return `${lines.join("\n")}\n`;
}

function exportJson() {
  const of = (panel) => ({
    panel: panel.id, run: panel.run, sample: panel.sample, step: panel.step, layer: view.layer, head: view.head, show: panel.show,
    what_if: isWhatIf() ? { temperature: view.temperature, causal: view.causal } : null,
    tokens: panel.tokens,
    label_positions: range(P).filter((position) => panel.marks[position]),
    values: range(P).map((query) => Array.from(panel.cells.slice(query * P, query * P + P), (value) => Number(fixed(value)))),
  });
  return `${JSON.stringify({ decimals: 4, axes: ["query", "key"], panels: panels().map(of) }, null, 1)}\n`;
}

// Texts and rectangles, for both kinds of picture.
function pictureParts() {
  const [side, wide, high] = P > MOST_CELLS ? [80, 12, 12] : [110, 64, 34];
  const parts = [];
  let top = 34;
  for (const panel of panels()) {
    const { scale } = panel;
    parts.push({ text: panel.title, x: 12, y: top - 14, size: 14, anchor: "start" });
    parts.push({ text: "query (from) ↓  key (to) →", x: 12, y: top + 6, size: 11, anchor: "start" });
    for (const position of range(P)) {
      const name = `${panel.marks[position] ? "◆ " : ""}${position}: ${shorten(panel.tokens[position], 12)}`;
      if (P <= MOST_CELLS) parts.push({ text: name, x: side + (position + 0.5) * wide, y: top + 24, size: 12, anchor: "middle" });
      parts.push({ text: name, x: side - 6, y: top + 30 + (position + 0.5) * high + 4, size: P > MOST_CELLS ? 9 : 12, anchor: "end" });
    }
    panel.cells.forEach((value, index) => {
      const { fill: back, ink } = colours(value, scale);
      const [x, y] = [side + index % P * wide, top + 30 + Math.floor(index / P) * high];
      parts.push({ x, y, width: wide, height: high, fill: back });
      if (P <= MOST_CELLS) parts.push({ text: fixed(value), x: x + wide / 2, y: y + high / 2 + 4, size: 12, anchor: "middle", ink });
    });
    const end = top + 30 + P * high;
    for (const part of range(64)) parts.push({ x: side + part * 4, y: end + 12, width: 4.2, height: 12, fill: colours(scale.from + (scale.to - scale.from) * (part + 0.5) / 64, scale).fill });
    parts.push({ text: fixed(scale.from, 2), x: side - 4, y: end + 22, size: 11, anchor: "end" }, { text: `${fixed(scale.to, 2)}${scale.more ? " or more" : ""}`, x: side + 260, y: end + 22, size: 11, anchor: "start" });
    top = end + 70;
  }
  return { parts, width: Math.max(side + P * wide + 12, 620), height: top - 30 };
}

function exportSvg() {
  const { parts, width, height } = pictureParts();
  const picture = draw("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "system-ui, sans-serif" }, draw("rect", { width, height, fill: "#ffffff" }));
  for (const part of parts) {
    if (part.text === undefined) picture.append(draw("rect", part));
    else picture.append(draw("text", { x: part.x, y: part.y, "font-size": part.size, "text-anchor": part.anchor, fill: part.ink ?? "#1d1d1f" }, part.text));
  }
  return new XMLSerializer().serializeToString(picture);
}

function exportPng() {
  const { parts, width, height } = pictureParts();
  const double = Math.min(2, 8000 / Math.max(width, height));
  const canvas = make("canvas", { width: Math.ceil(width * double), height: Math.ceil(height * double) });
  const context = canvas.getContext("2d");
  context.scale(double, double);
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, width, height);
  for (const part of parts) {
    context.fillStyle = part.fill ?? part.ink ?? "#1d1d1f";
    if (part.text === undefined) {
      context.fillRect(part.x, part.y, part.width, part.height);
    } else {
      context.font = `${part.size}px system-ui, sans-serif`;
      context.textAlign = part.anchor === "middle" ? "center" : part.anchor;
      context.fillText(part.text, part.x, part.y);
    }
  }
  canvas.toBlob((blob) => save("png", blob), "image/png");
}

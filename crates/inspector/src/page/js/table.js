// Tables of numbers, each with a title, a text, and a button that copies it as tab-separated values.

function table(name, title, text, columns, rows) {
  const body = rows.map(([rowName, ...cells]) => make("tr", {}, make("th", { scope: "row" }, isolate(rowName)), ...cells.map((cell) => make("td", {}, typeof cell === "number" ? fixed(cell) : isolate(cell)))));
  const lines = [columns, ...rows.map((row) => row.map((cell) => typeof cell === "number" ? fixed(cell) : cell))];
  const tsv = lines.map((line) => line.map((cell) => cell.replace(/[\t\r\n]/g, " ")).join("\t")).join("\n");
  return make("figure", { id: `stage-${name}`, class: "stage" },
    make("figcaption", {}, make("h3", {}, title), make("p", {}, text), make("button", { type: "button", onclick: () => copy(tsv, title), "aria-label": `Copy the table: ${title}` }, "Copy")),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title },
      make("table", { class: "numbers" }, make("thead", {}, make("tr", {}, ...columns.map((column) => make("th", { scope: "col" }, column)))), make("tbody", {}, ...body))));
}

async function copy(text, title) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { class: "unseen", "aria-label": "text to copy" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`Copied: ${title}`);
}

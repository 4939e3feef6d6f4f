// The matrices as files: CSV, JSON, SVG.

import { colours, valueAt, type Scale } from "../colour";
import { fixed, range, shorten } from "../numbers";
import { departureOf, MOST_CELLS, shades, type Panel, type Place } from "./matrices";

// Names of files may have 255 bytes.
const MOST_OF_NAME = 200;
const MOST_OF_DEPARTURE = 80;
const MOST_OF_PART = 30;

/** Text as a part of a file's name, on every system. */
export function inName(text: string, most: number = MOST_OF_NAME) {
  return text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9._]+/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, most)
    .replace(/[-.]+$/, "");
}

/** What a file's name says of a place. */
function placeName(place: Place) {
  const { run, sample, at } = place;
  const departure = inName(departureOf(place), MOST_OF_DEPARTURE);
  return [
    inName(run.name, MOST_OF_PART),
    /^\d+$/.test(sample) ? `sample-${sample}` : inName(sample, MOST_OF_PART),
    `step-${run.stepName(at)}`,
    departure && `with-${departure}`,
  ]
    .filter(Boolean)
    .join("-");
}

export function fileName([now, pinned]: Panel[], ending: string) {
  const { place } = now;
  const shown = `attention-${placeName(place)}-layer-${place.layer}-head-${place.head}-${place.show}`;
  return `${(pinned ? `${shown}-beside-${placeName(pinned.place)}` : shown).slice(0, MOST_OF_NAME).replace(/[-.]+$/, "")}.${ending}`;
}

/** A number as a file holds it: all digits that a float32 has. */
const exact = (value: number) => Number(value.toPrecision(9));

const stepOf = ({ run, at }: Place) => run.facts.steps[at];

export function matrixCsvOf(panels: Panel[]) {
  const quoted = (text: string | number) => `"${String(text).replaceAll('"', '""')}"`;
  const lines = ["panel,run,sample,step,layer,head,show,experiment_and_changes,query,query_token,key,key_token,value"];
  for (const { id, place, show, positions, cells, forbidden, tokens } of panels) {
    const { run, sample, layer, head, changesText } = place;
    const shown = changesText ? `${show} (what if)` : show;
    const step = stepOf(place) ?? "unknown";
    const where = [id, quoted(run.name), quoted(sample), step, layer, head, shown, quoted(departureOf(place))];
    cells.forEach((value, index) => {
      const [query, key] = [Math.floor(index / positions), index % positions];
      const number = forbidden?.[index] ? "" : exact(value);
      lines.push([...where, query, quoted(tokens[query]), key, quoted(tokens[key]), number].join(","));
    });
  }
  return `${lines.join("\n")}\n`;
}

export function jsonOf(panels: Panel[]) {
  const of = ({ id, place, show, positions, cells, forbidden, tokens, marks }: Panel) => {
    const { run, sample, layer, head, changes, settings } = place;
    const value = (cell: number) => (forbidden?.[cell] ? null : exact(cells[cell]));
    return {
      panel: id,
      run: run.name,
      sample,
      step: stepOf(place),
      layer,
      head,
      show,
      changes,
      settings,
      tokens,
      label_positions: range(positions).filter((position) => marks[position]),
      values: range(positions).map((query) => range(positions).map((key) => value(query * positions + key))),
    };
  };
  return `${JSON.stringify({ axes: ["query", "key"], masked_as: null, panels: panels.map(of) }, null, 1)}\n`;
}

/** Text for XML, without characters that it cannot hold. */
const xmlText = (text: string) =>
  text
    .replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      "\ufffd",
    )
    .replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[letter] ?? letter);

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
/** Such text, isolated so that it does not reorder the text around it. */
const isolated = (text: string) => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text);

/** A title in lines of at most this many characters, broken between its parts where it can be. */
function linesOf(title: string, most: number) {
  const lines: string[] = [];
  for (const word of title.split(/(?<= )/)) {
    if (lines.length && (lines[lines.length - 1] + word).trimEnd().length <= most) lines[lines.length - 1] += word;
    else lines.push(word);
  }
  return lines.map((line) => line.trimEnd());
}

const INK = "#1d1d1f";
const MARGIN = 12;
const GAP = 28;

/** Elements of an SVG that come one after the other. */
class Drawing {
  parts: string[] = [];

  text(
    words: string,
    x: number,
    y: number,
    { size = 12, anchor = "start", ink = INK }: { size?: number; anchor?: string; ink?: string } = {},
  ) {
    this.parts.push(
      `<text x="${round(x)}" y="${round(y)}" font-size="${size}" text-anchor="${anchor}" fill="${ink}">${xmlText(words)}</text>`,
    );
  }

  box(x: number, y: number, width: number, height: number, fill: string) {
    this.parts.push(
      `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" fill="${fill}"/>`,
    );
  }
}

/** The panels side by side, as SVG, with its size. */
export function svgOf(panels: Panel[]) {
  const most = Math.max(...panels.map(({ positions }) => positions));
  const isLarge = most > MOST_CELLS;
  const [names, wide, high, small] = isLarge ? [96, 12, 12, 9] : [118, 64, 34, 12];
  const widthOf = ({ positions }: Panel) => Math.max(names + positions * wide, 400);
  const titles = panels.map((panel) => linesOf(panel.title, Math.floor(widthOf(panel) / 7.6)));
  const top = MARGIN + 18 * Math.max(...titles.map((lines) => lines.length)) + 34;
  const drawing = new Drawing();
  let x = MARGIN;
  panels.forEach((panel, at) => {
    const { positions, cells, forbidden, marks, tokens } = panel;
    const scale = panel.scale as Scale;
    const shade = shades(panel, scale);
    const left = x + names;
    titles[at].forEach((line, index) => drawing.text(line, x, MARGIN + 14 + 18 * index, { size: 14 }));
    drawing.text("query ↓  key →", x, top - 8, { size: 11 });
    for (const position of range(positions)) {
      const name = `${marks[position] ? "◆ " : ""}${position}`;
      const token = (most: number) => isolated(shorten(tokens[position], most));
      const middle = position + 0.5;
      if (!isLarge || marks[position] || position % 4 === 0) {
        const above = isLarge ? name : `${name}: ${token(6)}`;
        drawing.text(above, left + middle * wide, top - 8, { size: small, anchor: "middle" });
      }
      drawing.text(`${name}: ${token(12)}`, left - 6, top + middle * high + 4, { size: small, anchor: "end" });
    }
    cells.forEach((value, index) => {
      const [cellX, cellY] = [left + (index % positions) * wide, top + Math.floor(index / positions) * high];
      if (forbidden?.[index]) return drawing.box(cellX, cellY, wide, high, "url(#masked)");
      const { fill, ink } = colours(shade[index], scale);
      drawing.box(cellX, cellY, wide, high, fill);
      if (!isLarge) drawing.text(fixed(value), cellX + wide / 2, cellY + high / 2 + 4, { anchor: "middle", ink });
    });
    const end = top + positions * high + 14;
    for (const part of range(64))
      drawing.box(left + part * 3, end, 3.2, 12, colours(valueAt((part + 0.5) / 64, scale), scale).fill);
    const decimals = scale.to - scale.from < 0.1 ? 4 : 2;
    const name = `${fixed(scale.to, decimals)} (${scale.name}${scale.log ? ", log" : ""}${forbidden ? "; hatched: masked" : ""})`;
    drawing.text(fixed(scale.from, decimals), left - 5, end + 10, { size: 11, anchor: "end" });
    drawing.text(name, left + 198, end + 10, { size: 11 });
    x += widthOf(panel) + GAP;
  });
  const [width, height] = [Math.ceil(x - GAP + MARGIN), top + most * high + 38];
  const pattern =
    '<pattern id="masked" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="#ffffff"/><rect width="2" height="6" fill="#b8b8bd"/></pattern>';
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif"><title>${xmlText(panels.map(({ title }) => title).join("; "))}</title><defs>${pattern}</defs><rect width="${width}" height="${height}" fill="#ffffff"/>${drawing.parts.join("\n")}</svg>\n`;
  return { svg, width, height };
}

const round = (value: number) => Math.round(value * 100) / 100;

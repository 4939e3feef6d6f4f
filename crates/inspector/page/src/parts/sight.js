// What is seen first, as one picture: the question, the tiles with their bands, the answer and the sentence. Light, and of
// the size that previews of links have.

import { fixed, mean, range, shorten } from "../numbers.js";
import { band, COLUMN, HEIGHT, LEAST, sharesOf, starts, WIDTH } from "./arcs.jsx";
import { isolated, linesOf, xmlText } from "./export.js";
import { sentenceOf, weightsOf, weightText } from "./sentence.js";

/** What is shown. @typedef {{ run: import("../run.js").Run, sample: string, at: number, query: number, layer: number, head: number }} Shown */

export const SIZE = { width: 1200, height: 630 };
const MARGIN = 48;
const INNER = SIZE.width - 2 * MARGIN;
// Below it, text of a preview cannot be read.
const LEAST_SIZE = 15;
// Of more tokens, each is too narrow for its text.
export const MOST_TILES = 24;
const MOST_CLASSES = 3;

// The light colours of `theme.rs`: what is shared has no dark mode.
const [INK, SOFT, LINE, PANEL, MARKED, ACCENT] = ["#1d1d1f", "#5c5c63", "#d5d5da", "#f6f6f8", "#b45309", "#0b5cad"];

/** How wide a text is at most, in the fonts that systems have. @param {string} text @param {number} size */
const widthOf = (text, size) => size * Array.from(text).reduce((sum, letter) => sum + (/[.,:;'’|!()[\]ijlIft ]/.test(letter) ? 0.4 : /[a-z\d\u0400-\u04ff]/.test(letter) ? 0.64 : /[\u1100-\uffff]|[^\u0000-\uffff]/.test(letter) ? 1.05 : 0.8), 0);

// Bold text is so much wider.
const BOLD = 1.12;

/** The largest size up to `most` at which a text has room. @param {string} text @param {number} most @param {number} room */
const sizeFor = (text, most, room) => Math.min(most, Math.floor(most * room / widthOf(text, most)));

/** A text in lines that have room, of the largest size for which these are few enough. @param {string} text @param {number} most @param {number} lines @param {number} [wider] @returns {{ size: number, lines: string[] }} */
function fitted(text, most, lines, wider = 1) {
  for (let size = most; size > LEAST_SIZE; size--) {
    const found = linesOf(text, Math.floor(INNER / (0.58 * wider * size)));
    if (found.length <= lines && found.every((line) => widthOf(line, size) * wider <= INNER)) return { size, lines: found };
  }
  const letters = Math.floor(INNER / (0.64 * wider * LEAST_SIZE));
  const found = linesOf(text, letters);
  return { size: LEAST_SIZE, lines: [...found.slice(0, lines - 1), shorten(found.slice(lines - 1).join(" "), letters)].filter(Boolean) };
}

/** The probabilities to show, with the names of their classes. @param {Shown} shown @returns {[name: string, value: number][]} */
function answersOf({ run, sample, at }) {
  const all = run.members(sample).map((member) => run.source.results("probabilities", at, member));
  const means = range(all[0]?.length ?? 0).map((logit) => mean(all.map((values) => values[logit])));
  if (run.classCount === 2) return means.slice(-1).map((value) => [`${run.isDeviation ? "Standard deviation: p" : "P"}robability of “${run.className(1)}”`, value]);
  return means.map((value, label) => /** @type {[string, number]} */ ([run.className(label), value])).sort(([, one], [, other]) => other - one).slice(0, MOST_CLASSES);
}

/** @param {Shown} shown @param {{ question: string, title: string, address: string }} about @returns {import("./raster.js").Drawing} */
export function sightOf(shown, { question, title, address }) {
  const { run, sample, query } = shown;
  const weights = weightsOf(shown).subarray(0, run.length(shown.sample));
  /** @type {string[]} */
  const parts = [];
  const text = (/** @type {string} */ words, /** @type {number} */ x, /** @type {number} */ y, size = 20, { anchor = "start", ink = INK, weight = 400, room = Infinity } = {}) => {
    const fit = widthOf(words, size) * (weight > 400 ? BOLD : 1) > room * 1.02 ? ` textLength="${Math.round(room)}" lengthAdjust="spacingAndGlyphs"` : "";
    parts.push(`<text x="${round(x)}" y="${round(y)}" font-size="${size}" text-anchor="${anchor}" fill="${ink}" font-weight="${weight}"${fit}>${xmlText(isolated(words))}</text>`);
  };
  const box = (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ width, /** @type {number} */ height, /** @type {string} */ more) =>
    parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" ${more}/>`);

  const heading = fitted(question, 38, 2, BOLD);
  heading.lines.forEach((line, at) => text(line, MARGIN, 70 + at * heading.size * 1.2, heading.size, { weight: 700 }));
  const sentence = fitted(sentenceOf(shown, weights), 22, 3);
  const answers = answersOf(shown);

  // From the foot upwards: what is above gets what is left.
  const foot = SIZE.height - 24;
  const saidAt = foot - 40 - (sentence.lines.length - 1) * sentence.size * 1.3;
  const answersAt = saidAt - 26 - 22 * 2 * answers.length - (answers.length > 1 ? 0 : 8);
  const tilesAt = answersAt - 116;
  const top = 86 + (heading.lines.length - 1) * heading.size * 1.2;

  const isNarrow = weights.length > MOST_TILES;
  const column = INNER / weights.length;
  const gap = isNarrow ? 1 : Math.min(8, column / 8);
  bands(shown, weights, top, tilesAt - top).forEach((drawn) => parts.push(drawn));
  range(weights.length).forEach((position) => {
    const isMarked = run.marked(sample, position);
    const middle = MARGIN + (position + 0.5) * column;
    const room = column - gap;
    box(middle - room / 2, tilesAt, room, 48, `rx="7" fill="${position === run.cls ? PANEL : "#ffffff"}" stroke="${position === query ? ACCENT : isMarked ? MARKED : SOFT}" stroke-width="${isMarked || position === query ? 3 : 1.5}"`);
    const token = isNarrow ? "" : shorten(run.tokenAt(sample, position), 18);
    const size = Math.max(sizeFor(token, 26, (room - 6) / BOLD), 13);
    if (token) text(token, middle, tilesAt + 24 + size * 0.36, size, { anchor: "middle", weight: 600, room: room - 8 });
    const isStrong = !isNarrow || isMarked || weights[position] >= 0.1;
    if (isStrong) text(isNarrow ? `${position}` : `${isMarked ? "◆ " : ""}${position}`, middle, tilesAt + 68, 15, { anchor: "middle", ink: isMarked ? MARKED : SOFT, room: Math.max(column, 40) });
    const share = run.isDeviation ? `±${weights[position].toFixed(2)}` : weightText(run, weights[position]);
    if (isStrong) text(share, middle, tilesAt + 92, Math.max(Math.min(20, sizeFor(share, 20, Math.max(column - 2, 40))), 12), { anchor: "middle", weight: isMarked ? 700 : 400, room: Math.max(column, 40) });
  });
  answers.forEach(([name, value], at) => {
    const y = answersAt + 44 * at;
    text(shorten(name, 70), MARGIN, y + 14, 19, { ink: SOFT, room: INNER - 120 });
    text(fixed(value), SIZE.width - MARGIN, y + 14, 21, { anchor: "end", weight: 700, room: 120 });
    box(MARGIN, y + 22, INNER, 16, `rx="4" fill="${PANEL}" stroke="${SOFT}"`);
    box(MARGIN, y + 22, INNER * Math.min(Math.max(value, 0), 1), 16, `rx="4" fill="${MARKED}"`);
    if (answers.length < 2 && !run.isDeviation) box(SIZE.width / 2 - 1, y + 22, 2, 16, `fill="${INK}"`);
  });
  sentence.lines.forEach((line, at) => text(line, MARGIN, saidAt + at * sentence.size * 1.3, sentence.size));
  box(MARGIN, foot - 22, INNER, 1, `fill="${LINE}"`);
  const half = address ? INNER * 0.55 - 20 : INNER;
  text(shorten(title, Math.floor(half / 9)), MARGIN, foot, 16, { ink: SOFT, room: half });
  if (address) text(shorten(address, 56), SIZE.width - MARGIN, foot, 16, { anchor: "end", ink: ACCENT, room: INNER * 0.45 });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" width="${SIZE.width}" height="${SIZE.height}" font-family="system-ui, sans-serif"><title>${xmlText(`${question} ${title}`)}</title><rect width="${SIZE.width}" height="${SIZE.height}" fill="#ffffff"/>${parts.join("\n")}</svg>\n`;
  return { svg, ...SIZE };
}

/** The bands of `arcs.jsx` above the tiles. @param {Shown} shown @param {Float64Array} weights @param {number} top @param {number} height @returns {string[]} */
function bands({ run, sample, query }, weights, top, height) {
  const shares = sharesOf(weights);
  const from = starts(query, shares);
  const furthest = Math.max(query, weights.length - 1 - query, 1);
  const paths = range(weights.length).filter((key) => shares[key] > 0).map((key) => {
    const width = shares[key] * WIDTH;
    const rise = key === query ? 12 + width / 3 : 22 + 76 * Math.abs(key - query) / furthest;
    const isMarked = run.marked(sample, key);
    return `<path d="${band(from[key], (key + 0.5) * COLUMN - width / 2, Math.max(width, LEAST), rise)}" fill="${weights[key] < 0 ? ACCENT : isMarked ? MARKED : SOFT}" opacity="${isMarked ? 0.85 : 0.4}"/>`;
  });
  return [`<svg x="${MARGIN}" y="${round(top)}" width="${INNER}" height="${round(height)}" viewBox="0 0 ${weights.length * COLUMN} ${HEIGHT}" preserveAspectRatio="none">${paths.join("")}</svg>`];
}

const round = (/** @type {number} */ value) => Math.round(value * 10) / 10;

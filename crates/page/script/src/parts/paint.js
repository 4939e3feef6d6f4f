// Matrices as pictures of one pixel per cell.

import { colours, shareOf } from "../colour.js";

const SHADES = 1024;
/** @type {Map<boolean, Uint8ClampedArray>} */
const shades = new Map();

/** The colours of a scale, four numbers each: a picture of many cells has no time to compute them one by one. @param {boolean} diverging */
function shadesOf(diverging) {
  const known = shades.get(diverging);
  if (known) return known;
  const found = new Uint8ClampedArray(4 * SHADES).fill(255);
  for (let shade = 0; shade < SHADES; shade++) {
    const { fill } = colours(shade / (SHADES - 1), { from: 0, to: 1, diverging, name: "" });
    found.set((fill.match(/\d+/g) ?? []).map(Number), 4 * shade);
  }
  shades.set(diverging, found);
  return found;
}

/**
 * Forbidden cells stay clear: the style of the canvas hatches what is behind them.
 * @param {HTMLCanvasElement} canvas @param {Float64Array} cells @param {Uint8Array | null} forbidden @param {Scale} scale
 */
export function paint(canvas, cells, forbidden, scale) {
  const side = Math.sqrt(cells.length);
  if (canvas.width !== side || canvas.height !== side) canvas.width = canvas.height = side;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const picture = context.createImageData(side, side);
  const colour = shadesOf(scale.diverging);
  for (let cell = 0; cell < cells.length; cell++) {
    if (forbidden?.[cell]) continue;
    const shade = 4 * Math.round(Math.min(Math.max(shareOf(cells[cell], scale), 0), 1) * (SHADES - 1));
    for (let channel = 0; channel < 4; channel++) picture.data[4 * cell + channel] = colour[shade + channel];
  }
  context.putImageData(picture, 0, 0);
}

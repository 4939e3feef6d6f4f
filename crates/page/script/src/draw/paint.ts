// Matrices as pictures of one pixel per cell.

import { colours, shareOf, type Scale } from "./colour";

const SHADES = 1024;
const shades = new Map<boolean, Uint8ClampedArray>();

/** The colours of a scale, four numbers each: a picture of many cells has no time to compute them one by one. */
function shadesOf(diverging: boolean) {
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

/** Forbidden cells stay clear: the style of the canvas hatches what is behind them. @param most of more cells on a side than these pixels, a pixel is a mean */
export function paint(
  canvas: HTMLCanvasElement | OffscreenCanvas,
  cells: Float64Array,
  forbidden: Uint8Array | null,
  scale: Scale,
  most = Infinity,
) {
  const cellsOnSide = Math.sqrt(cells.length);
  const side = Math.min(cellsOnSide, most);
  if (canvas.width !== side || canvas.height !== side) canvas.width = canvas.height = side;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  if (cellsOnSide > side) {
    const whole = new OffscreenCanvas(cellsOnSide, cellsOnSide);
    paint(whole, cells, forbidden, scale);
    context.clearRect(0, 0, side, side);
    context.imageSmoothingQuality = "high";
    context.drawImage(whole, 0, 0, side, side);
    return;
  }
  const picture = context.createImageData(side, side);
  const colour = shadesOf(scale.diverging);
  for (let cell = 0; cell < cells.length; cell++) {
    if (forbidden?.[cell]) continue;
    const shade = 4 * Math.round(Math.min(Math.max(shareOf(cells[cell], scale), 0), 1) * (SHADES - 1));
    for (let channel = 0; channel < 4; channel++) picture.data[4 * cell + channel] = colour[shade + channel];
  }
  context.putImageData(picture, 0, 0);
}

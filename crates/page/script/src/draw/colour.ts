// The colours of values. The theme (`theme.rs`) gives the stops of viridis and has the same rule for black or white text.

import { page } from "../model/facts";

export type Scale = { from: number; to: number; diverging: boolean; log?: boolean; name: string };

// Blue below zero, white at zero, orange above.
const DIVERGING = [
  [20, 75, 140],
  [80, 140, 195],
  [247, 247, 247],
  [224, 150, 60],
  [150, 70, 0],
];

function between(stops: number[][], share: number) {
  const place = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const below = Math.min(Math.floor(place), stops.length - 2);
  return stops[below].map((from, channel) => Math.round(from + (stops[below + 1][channel] - from) * (place - below)));
}

/** Where a value lies between the ends of a scale. */
export function shareOf(value: number, { from, to, log }: Scale) {
  if (log) return value <= 0 ? 0 : (Math.log(value) - Math.log(from)) / (Math.log(to) - Math.log(from));
  return (value - from) / (to - from || 1);
}

/** The value at a share of a scale. */
export function valueAt(share: number, { from, to, log }: Scale) {
  return log ? Math.exp(Math.log(from) + share * (Math.log(to) - Math.log(from))) : from + share * (to - from);
}

/** The colour of a value, and black or white for text on it, whichever contrasts more. */
export function colours(value: number, scale: Scale) {
  const rgb = between(scale.diverging ? DIVERGING : page.viridis, shareOf(value, scale));
  const [r, g, b] = rgb.map((channel) => {
    const part = channel / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return { fill: `rgb(${rgb.join(",")})`, ink: luminance > 0.179 ? "#000000" : "#ffffff" };
}

/** The colour of a class: of more than two, from viridis without its lightest. */
export const classColour = (label: number, count: number) =>
  count > 2
    ? colours((0.85 * label) / (count - 1), { from: 0, to: 1, diverging: false, name: "" }).fill
    : label
      ? "var(--positives)"
      : "var(--negatives)";

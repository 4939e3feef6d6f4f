// Numbers: as text, in lists, and the softmax.

export const range = (count: number) => Array.from({ length: count }, (_, index) => index);

export function fixed(value: number, decimals = 4) {
  const text = value.toFixed(decimals);
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text;
}

export const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
export const mean = (values: number[]) => sum(values) / values.length;

/** exp(x) for x <= 0, to the last bit the same as in `series.rs`. */
function exp(x: number) {
  const part = Math.max(x, -64) / 256;
  let value = 1;
  for (let divisor = 10; divisor > 0; divisor--) value = 1 + (value * part) / divisor;
  for (let squared = 0; squared < 8; squared++) value *= value;
  return value;
}

/** The softmax of a row of scores over the allowed keys, not rounded. */
export function softmax(scores: Float64Array, may: (key: number) => boolean, unit: number) {
  let most = -Infinity;
  for (let key = 0; key < scores.length; key++) if (may(key) && scores[key] > most) most = scores[key];
  const shares = new Float64Array(scores.length);
  let sum = 0;
  for (let key = 0; key < scores.length; key++) {
    if (may(key)) sum += shares[key] = exp((scores[key] - most) / unit);
  }
  for (let key = 0; key < scores.length && sum > 0; key++) shares[key] /= sum;
  return shares;
}

/** Text of at most this many characters; shortened text ends with "…". */
export function shorten(text: string, most: number) {
  const characters = Array.from(text);
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
}

export const percent = (share: number) => `${Math.round(100 * share)}%`;

/** Those of the texts that there are, as one. */
export const joined = (texts: (string | number | false | null | undefined)[], between = " ") =>
  texts.filter(Boolean).join(between);

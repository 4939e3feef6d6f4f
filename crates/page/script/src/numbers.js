// Numbers: as text, in lists, and the softmax.

/** @param {number} count */
export const range = (count) => Array.from({ length: count }, (_, index) => index);

/** @param {number} value @param {number} [decimals] */
export function fixed(value, decimals = 4) {
  const text = value.toFixed(decimals);
  return /^-0\.?0*$/.test(text) ? text.slice(1) : text;
}

/** @param {number[]} values */
export const sum = (values) => values.reduce((all, value) => all + value, 0);
/** @param {number[]} values */
export const mean = (values) => sum(values) / values.length;

/** exp(x) for x <= 0, to the last bit the same as in `series.rs`. @param {number} x */
function exp(x) {
  const part = Math.max(x, -64) / 256;
  let value = 1;
  for (let divisor = 10; divisor > 0; divisor--) value = 1 + (value * part) / divisor;
  for (let squared = 0; squared < 8; squared++) value *= value;
  return value;
}

/** The softmax of a row of scores over the allowed keys, not rounded. @param {Float64Array} scores @param {(key: number) => boolean} may @param {number} unit */
export function softmax(scores, may, unit) {
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

/** Text of at most this many characters; shortened text ends with "…". @param {string} text @param {number} most */
export function shorten(text, most) {
  const characters = Array.from(text);
  return characters.length > most ? `${characters.slice(0, most - 1).join("")}…` : text;
}

/** @param {number} share */
export const percent = (share) => `${Math.round(100 * share)}%`;

// Functions of models, as the core computes them: activations, and positions without parameters.

/** The error function, by a series whose terms are all positive. @param {number} x */
function erf(x) {
  if (Math.abs(x) > 4) return Math.sign(x);
  let [term, sum] = [x, x];
  for (let n = 1; n < 80; n++) sum += term *= (2 * x * x) / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** Activations: what they are called around a formula, and their values. */
export const ACTIVATIONS = {
  relu: { call: "max(0, ", of: (/** @type {number} */ x) => Math.max(0, x) },
  gelu: { call: "GELU(", of: (/** @type {number} */ x) => (x / 2) * (1 + erf(x / Math.SQRT2)) },
  "gelu-tanh": {
    call: "GELU-tanh(",
    of: (/** @type {number} */ x) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  },
  silu: { call: "SiLU(", of: (/** @type {number} */ x) => x / (1 + Math.exp(-x)) },
};

/** @param {number} position @param {number} pair @param {number} width */
const angleOf = (position, pair, width) => position / 10000 ** ((2 * pair) / width);

/** The fixed vector that is added at a position; null without one. @param {string} kind @param {number} position @param {number} width @returns {number[] | null} */
export function placeOf(kind, position, width) {
  const at = (/** @type {number} */ i) =>
    kind === "first"
      ? Number(position === 1 && i === 0)
      : Math[i % 2 ? "cos" : "sin"](angleOf(position, i >> 1, width));
  return kind === "sinusoidal" || kind === "first" ? Array.from({ length: width }, (_, i) => at(i)) : null;
}

/** A vector of a head, rotated by its position: its halves are paired. @param {number[]} vector @param {number} position */
export function rotated(vector, position) {
  const half = vector.length / 2;
  return vector.map((value, i) => {
    const angle = angleOf(position, i % half, vector.length);
    return i < half
      ? value * Math.cos(angle) - vector[i + half] * Math.sin(angle)
      : value * Math.cos(angle) + vector[i - half] * Math.sin(angle);
  });
}

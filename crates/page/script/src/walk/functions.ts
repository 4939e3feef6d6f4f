// Functions of models, as the core computes them: activations, and positions without parameters.

/** The error function, by a series whose terms are all positive. */
function erf(x: number) {
  if (Math.abs(x) > 4) return Math.sign(x);
  let [term, sum] = [x, x];
  for (let n = 1; n < 80; n++) sum += term *= (2 * x * x) / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** Activations: what they are called around a formula, and their values. */
export const ACTIVATIONS = {
  relu: { call: "max(0, ", of: (x: number) => Math.max(0, x) },
  gelu: { call: "GELU(", of: (x: number) => (x / 2) * (1 + erf(x / Math.SQRT2)) },
  "gelu-tanh": {
    call: "GELU-tanh(",
    of: (x: number) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
  },
  silu: { call: "SiLU(", of: (x: number) => x / (1 + Math.exp(-x)) },
};

const angleOf = (position: number, pair: number, width: number) => position / 10000 ** ((2 * pair) / width);

/** The fixed vector that is added at a position; null without one. */
export function placeOf(kind: string, position: number, width: number): number[] | null {
  const at = (i: number) =>
    kind === "first"
      ? Number(position === 1 && i === 0)
      : Math[i % 2 ? "cos" : "sin"](angleOf(position, i >> 1, width));
  return kind === "sinusoidal" || kind === "first" ? Array.from({ length: width }, (_, i) => at(i)) : null;
}

/** A vector of a head, rotated by its position: its halves are paired. */
export function rotated(vector: number[], position: number) {
  const half = vector.length / 2;
  return vector.map((value, i) => {
    const angle = angleOf(position, i % half, vector.length);
    return i < half
      ? value * Math.cos(angle) - vector[i + half] * Math.sin(angle)
      : value * Math.cos(angle) + vector[i - half] * Math.sin(angle);
  });
}

// Runs without a page: facts, and a source of numbers, of which a test says what it needs.

import { load } from "./page.mjs";

const [{ Run }] = await load("model/run");

/** Facts of three positions. @param {Record<string, unknown>} facts */
export const factsOf = (facts) =>
  ({ name: "test", seed: 0, layers: 1, heads: 1, positions: 3, logits: 1, classes: [], cls: 0, steps: [0], loss: [], token_strings: {}, samples: [], ...facts });

/** A run whose attention is uniform. @param {Record<string, unknown>} facts @param {Record<string, unknown>} [source] */
export function runOf(facts, source = {}) {
  const { positions = 3 } = facts;
  const row = () => new Float64Array(positions).fill(1 / positions);
  return new Run(factsOf(facts), { kind: "recorded", covers: () => true, arrays: () => null, allows: () => true, results: () => [1], row, ...source });
}

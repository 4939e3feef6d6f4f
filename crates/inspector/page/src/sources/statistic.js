// A statistic over runs: the mean or the standard deviation of each number. Runs that have one have the same samples,
// steps and masks.

import { deviation, mean } from "../numbers.js";
import { Run } from "../run.js";

/** @typedef {import("../types").Source} Source */

const STATISTICS = { mean, deviation };
export const STATISTIC_NAMES = { mean: "mean", deviation: "standard deviation" };

/** @implements {Source} */
class Over {
  kind = /** @type {const} */ ("statistic");

  /** @param {Run[]} runs @param {keyof typeof STATISTICS} name */
  constructor(runs, name) {
    this.runs = runs;
    this.statistic = name;
  }

  /** @template {Float64Array | number[]} T @param {(source: import("../types").Source) => T} numbers @returns {T} */
  #of(numbers) {
    const all = this.runs.map(({ source }) => numbers(source));
    const statistic = STATISTICS[this.statistic];
    return /** @type {T} */ (all[0].map((_, at) => statistic(all.map((values) => values[at]))));
  }

  /** @type {Source["row"]} */
  row(...where) {
    return this.#of((source) => source.row(...where));
  }

  /** @type {Source["results"]} */
  results(...where) {
    return this.#of((source) => source.results(...where));
  }

  arrays() {
    return null;
  }

  /** @type {Source["allows"]} */
  allows(...where) {
    return this.runs[0].source.allows(...where);
  }

  covers() {
    return true;
  }
}

/** The statistic of runs, as a run. @param {Run[]} runs @param {keyof typeof STATISTICS} name */
export function statisticOf(runs, name) {
  const [{ facts }] = runs;
  const steps = String(facts.loss.map(({ step }) => step));
  const everywhere = runs.every((run) => String(run.facts.loss.map(({ step }) => step)) === steps);
  const loss = everywhere ? facts.loss.map(({ step }, at) => ({ step, loss: STATISTICS[name](runs.map((run) => run.facts.loss[at].loss)) })) : [];
  return new Run({ ...facts, loss }, new Over(runs, name), `${STATISTIC_NAMES[name]} over ${runs.length} runs`);
}

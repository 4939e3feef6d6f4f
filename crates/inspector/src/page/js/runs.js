// Several runs in one page: the view shows one of them, or the mean or standard deviation over all.

const STATISTICS = { mean: "mean", deviation: "standard deviation" };
const isStatistic = (run) => typeof run !== "number";

// The run whose samples and steps are shown for a statistic.
const representative = (run) => isStatistic(run) ? 0 : run;

// Computes something in a run, and enters the run before again.
function within(run, compute) {
  const before = current;
  enter(representative(run));
  try {
    return compute();
  } finally {
    enter(before);
  }
}

// The numbers of a run, or the statistic of each number over all runs.
function ofRun(run, compute) {
  if (!isStatistic(run)) return within(run, compute);
  const all = runs.map((_, index) => within(index, compute));
  return all[0].map((_, at) => statistic(run, all.map((numbers) => numbers[at])));
}

// The standard deviation is that of a sample: the divisor is one less than the number of values.
function statistic(name, values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (name === "mean") return mean;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

function runName(run) {
  if (isStatistic(run)) return `${STATISTICS[run]} over ${runs.length} runs`;
  const { name, seed } = runs[run].facts;
  return seed === null ? name : `${name} (seed ${seed})`;
}

const runKeys = () => [...runs.keys(), ...(runs.length > 1 && !page.apart ? Object.keys(STATISTICS) : [])];

// The run that an address names, or else the first.
const findRun = (text) => runKeys().find((key) => String(key) === text) ?? 0;

sections.push({ start: startRuns });

function startRuns() {
  byId("run").parentElement.hidden = runs.length === 1;
  byId("run").append(...runKeys().map((key) => make("option", { value: key }, runName(key))));
  byId("run").addEventListener("change", () => changeRun(findRun(byId("run").value)));
}

// Shows the same sample and the nearest step of another run.
function changeRun(run) {
  const [sample, time] = [sampleKey(view.sample), times()[view.step]];
  enter(representative(run));
  change({ run, sample: findSample(sample) ?? 0, step: nearest(time) }, true);
}

// The classes of samples: their names, and what the model makes of each sample. Two classes have one logit, more
// have one each. All runs have the same classes.

const CLASSES = facts.logits === 1 ? 2 : facts.logits;
const className = (label) => label === null ? "unknown" : facts.classes[label] ?? (CLASSES > 2 ? `class ${label}` : label ? "positive" : "negative");

// The names of all samples of a class, in the address too.
const MEANS = CLASSES > 2 ? Object.fromEntries(range(CLASSES).map((label) => [`class ${label}`, label])) : { positives: 1, negatives: 0 };
const meanText = (name, count = "") => `mean over ${count} ${CLASSES > 2 || facts.classes.length ? `samples of ${className(MEANS[name])}` : name}`.replace("  ", " ");

const logits = (sample, step) => source.results("logits", sample, step);
const probabilities = (sample, step) => source.results("probabilities", sample, step);

// The class that the model chooses: the most probable one, and the first of equals.
function predicted(sample, step) {
  const values = logits(sample, step);
  return CLASSES > 2 ? values.indexOf(Math.max(...values)) : Number(values[0] > 0);
}

// Of two classes the probability of the positive one; of more that of the sample's class, or of the chosen one if
// the sample's is unknown.
function probability(sample, step) {
  const values = probabilities(sample, step);
  return CLASSES > 2 ? values[facts.samples[sample].label ?? predicted(sample, step)] : values[0];
}

const OUTCOMES = CLASSES > 2 ? { right: "right", wrong: "wrong", "": "" } : { right: "right", missed: "missed", false: "false alarm", "": "" };

function outcome(sample, step) {
  const { label } = facts.samples[sample];
  if (label === null) return "";
  const called = predicted(sample, step);
  if (called === label) return "right";
  return CLASSES > 2 ? "wrong" : called ? "false" : "missed";
}

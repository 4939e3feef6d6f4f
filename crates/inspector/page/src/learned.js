// When a model counts as one that learned.

/** The F1 from which it does, as in sweeps; or the share of right samples, where those of the page are counted. */
export const LEARNED = 0.99;

// The tabs below the first sight, in their order. A new panel is a file and a line here.

import { Evidence } from "./panels/evidence.jsx";
import { ExperimentTab } from "./panels/experiment.jsx";
import { Explore } from "./panels/explore.jsx";
import { Generate } from "./panels/generate.jsx";
import { Seeds } from "./panels/seeds.jsx";
import { Words } from "./panels/words.jsx";
import { canTrain } from "./parts/abilities.js";
import { shown } from "./state.js";

/** @typedef {{ key: string, title: string, Panel: () => any, suits?: () => boolean }} Tab */

/** @type {Tab[]} */
const all = [
  { key: "explore", title: "Explore", Panel: Explore },
  { key: "words", title: "Words", Panel: Words, suits: () => shown.value?.words != null && !shown.value.features },
  {
    key: "generate",
    title: "Generate",
    Panel: Generate,
    suits: () => shown.value?.facts.task === "next-token" && shown.value.isLive,
  },
  { key: "experiment", title: "Experiment", Panel: ExperimentTab, suits: () => canTrain.value },
  { key: "seeds", title: "Seeds", Panel: Seeds, suits: () => canTrain.value },
  { key: "evidence", title: "Evidence", Panel: Evidence },
];

/** The tabs that suit the run. */
export const tabs = () => all.filter(({ suits }) => suits?.() ?? true);

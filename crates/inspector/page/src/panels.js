// The tabs below the first sight, in their order. A new panel is a file and a line here.

import { Evidence } from "./panels/evidence.jsx";
import { ExperimentTab } from "./panels/experiment.jsx";
import { Explore } from "./panels/explore.jsx";
import { Generate } from "./panels/generate.jsx";
import { Seeds } from "./panels/seeds.jsx";
import { Stepper } from "./panels/stepper.jsx";
import { Words } from "./panels/words.jsx";
import { shown } from "./state.js";

/** @typedef {{ key: string, title: string, Panel: () => any, suits?: () => boolean }} Tab */

/** @type {Tab[]} */
const all = [
  { key: "explore", title: "Explore", Panel: Explore },
  { key: "steps", title: "Step by step", Panel: Stepper },
  { key: "words", title: "Words", Panel: Words, suits: () => shown.value?.words != null },
  { key: "generate", title: "Generate", Panel: Generate, suits: () => shown.value?.facts.task === "next-token" && shown.value.isLive },
  { key: "experiment", title: "Experiment", Panel: ExperimentTab },
  { key: "seeds", title: "Seeds", Panel: Seeds },
  { key: "evidence", title: "Evidence", Panel: Evidence },
];

/** The tabs that suit the run. */
export const tabs = () => all.filter(({ suits }) => suits?.() ?? true);

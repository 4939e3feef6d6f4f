// The tabs below the first sight, in their order. A new panel is a file and a line here.

import { Evidence } from "./panels/evidence.jsx";
import { ExperimentTab } from "./panels/experiment.jsx";
import { Explore } from "./panels/explore.jsx";
import { Seeds } from "./panels/seeds.jsx";
import { Stepper } from "./panels/stepper.jsx";

/** @type {{ key: string, title: string, Panel: () => any }[]} */
export const tabs = [
  { key: "explore", title: "Explore", Panel: Explore },
  { key: "steps", title: "Step by step", Panel: Stepper },
  { key: "experiment", title: "Experiment", Panel: ExperimentTab },
  { key: "seeds", title: "Seeds", Panel: Seeds },
  { key: "evidence", title: "Evidence", Panel: Evidence },
];

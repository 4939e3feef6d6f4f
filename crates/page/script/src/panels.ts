// The tabs below the first sight, in their order. A new panel is a file and a line here.

import { Evidence } from "./panels/evidence";
import { ExperimentTab } from "./panels/experiment";
import { Explore } from "./panels/explore";
import { Generate } from "./panels/generate";
import { Seeds } from "./panels/seeds";
import { Words } from "./panels/words";
import { canTrain } from "./parts/abilities";
import { shown } from "./state";
import type { Panel } from "./parts/matrices";

type Tab = { key: string; title: string; Panel: () => any; suits?: () => boolean };

const all: Tab[] = [
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

// The tabs below the first sight, in their order. A new tab is a file and its line here.

import { Evidence } from "./tabs/evidence";
import { ExperimentTab } from "./tabs/experiment/experiment";
import { Explore } from "./tabs/samples/explore";
import { Generate } from "./tabs/generate";
import { Seeds } from "./tabs/seeds/seeds";
import { Words } from "./tabs/words";
import { canTrain } from "./state/abilities";
import { shown } from "./state/state";

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

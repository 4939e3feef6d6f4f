// The tabs below the first sight, in their order. A new tab is a file and its line here.

import type { ComponentChildren } from "preact";
import { EvidenceTab } from "./tabs/evidence";
import { ExperimentTab } from "./tabs/experiment/experiment";
import { ExploreTab } from "./tabs/samples/explore";
import { GenerateTab } from "./tabs/generate";
import { SeedsTab } from "./tabs/seeds/seeds";
import { WordsTab } from "./tabs/words";
import { canTrain } from "./state/abilities";
import { shownRun } from "./state/state";

type Tab = { key: string; title: string; Panel: () => ComponentChildren; suits?: () => boolean };

const all: Tab[] = [
  { key: "explore", title: "Explore", Panel: ExploreTab },
  {
    key: "words",
    title: "Words",
    Panel: WordsTab,
    suits: () => shownRun.value?.words != null && !shownRun.value.features && !shownRun.value.asksEach,
  },
  {
    key: "generate",
    title: "Generate",
    Panel: GenerateTab,
    suits: () => shownRun.value?.facts.task === "next-token" && shownRun.value.isLive,
  },
  { key: "experiment", title: "Experiment", Panel: ExperimentTab, suits: () => canTrain.value },
  { key: "seeds", title: "Seeds", Panel: SeedsTab, suits: () => canTrain.value },
  { key: "evidence", title: "Evidence", Panel: EvidenceTab },
];

/** The tabs that suit the run. */
export const tabs = () => all.filter(({ suits }) => suits?.() ?? true);

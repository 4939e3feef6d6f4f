// Another training, other computations with the same weights, and the reader's own samples.

import { Interventions } from "../parts/interventions";
import { OwnData } from "../parts/own-data";
import { Settings } from "../parts/settings";
import { hasWords } from "../parts/abilities";

export function ExperimentTab() {
  return (
    <div id="experiment">
      {hasWords.value && <OwnData />}
      <Settings />
      <Interventions />
      {!hasWords.value && <OwnData />}
    </div>
  );
}

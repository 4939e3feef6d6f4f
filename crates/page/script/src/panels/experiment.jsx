// Another training, other computations with the same weights, and the reader's own samples.

import { Interventions } from "../parts/interventions.jsx";
import { OwnData } from "../parts/own-data.jsx";
import { Settings } from "../parts/settings.jsx";
import { hasWords } from "../parts/abilities.js";

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

// Another training, other computations with the same weights, and the reader's own samples.

import { Attribution } from "../parts/attribution.jsx";
import { Interventions } from "../parts/interventions.jsx";
import { OwnData } from "../parts/own-data.jsx";
import { Settings } from "../parts/settings.jsx";
import { TakeOut } from "../parts/take-out.jsx";
import { canTrain, hasWords } from "../parts/abilities.js";
import { SurprisesButton } from "./surprises.jsx";

export function ExperimentTab() {
  return (
    <div id="experiment">
      {canTrain.value && hasWords.value && <OwnData />}
      <SurprisesButton />
      {canTrain.value ? <Settings /> : <p class="hint">This page holds recordings: it cannot train anything else.</p>}
      <Interventions />
      {canTrain.value && <Attribution />}
      {canTrain.value && !hasWords.value && <OwnData />}
      {canTrain.value && <TakeOut />}
    </div>
  );
}

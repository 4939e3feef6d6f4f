// Another training, other computations with the same weights, and the reader's own samples.

import { Interventions } from "./interventions";
import { UserData } from "./user-data";
import { Settings } from "./settings";
import { hasWords } from "../../state/abilities";
import "./experiment.css";

export function ExperimentTab() {
  return (
    <div id="experiment">
      {hasWords.value && <UserData />}
      <Settings />
      <Interventions />
      {!hasWords.value && <UserData />}
    </div>
  );
}

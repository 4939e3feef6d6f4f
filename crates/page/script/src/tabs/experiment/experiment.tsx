// Another training, other computations with the same weights, and the reader's own samples.

import { Interventions } from "./interventions";
import { UserData } from "./user-data";
import { Settings } from "./settings";
import "./experiment.css";

export function ExperimentTab() {
  return (
    <div id="experiment">
      <Settings />
      <UserData />
      <Interventions />
    </div>
  );
}

// The samples, and the way of the shown one from a query to the decision.

import { Chain } from "../parts/chain.jsx";
import { Samples } from "../parts/samples.jsx";

export function Explore() {
  return <div id="explore"><Samples /><Chain /></div>;
}

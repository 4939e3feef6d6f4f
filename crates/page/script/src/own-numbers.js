// The page's recorded runs.

import { page } from "./facts.js";
import { held, inflated } from "./packed.js";
import { Run } from "./run.js";
import { Reader, Recorded } from "./sources/recorded.js";
import { runs } from "./state.js";

export async function unpack() {
  const packed = held("numbers");
  if (packed === null) return;
  const reader = new Reader(await inflated(packed).arrayBuffer());
  runs.value = page.runs.map((facts) => new Run(facts, new Recorded(facts, reader)));
}

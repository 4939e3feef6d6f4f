// The page's recorded runs.

import { page } from "../model/facts";
import { held, inflated } from "../model/packed";
import { Run } from "../model/run";
import { Reader, Recorded } from "../sources/recorded";
import { runs } from "./state";

export async function unpack() {
  const packed = held("numbers");
  if (packed === null) return;
  const reader = new Reader(await inflated(packed).arrayBuffer());
  runs.value = page.runs.map((facts) => new Run(facts, new Recorded(facts, reader)));
}

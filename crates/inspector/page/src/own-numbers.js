// The page's recorded runs.

import { page } from "./facts.js";
import { unpacked } from "./packed.js";
import { Run } from "./run.js";
import { Reader, Recorded } from "./sources/recorded.js";
import { runs } from "./state.js";

export async function unpack() {
  const packed = await unpacked("numbers", "deflate-raw");
  const reader = packed && new Reader(packed);
  if (reader) runs.value = page.runs.map((facts) => new Run(facts, new Recorded(facts, reader)));
}

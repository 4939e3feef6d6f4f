// The matrices as a file: CSV.

import { departureOf, type Panel, type Place } from "../../draw/matrices";

// Names of files may have 255 bytes.
const MOST_OF_NAME = 200;
const MOST_OF_DEPARTURE = 80;
const MOST_OF_PART = 30;

/** Text as a part of a file's name, on every system. */
export function inName(text: string, most: number = MOST_OF_NAME) {
  return text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9._]+/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, most)
    .replace(/[-.]+$/, "");
}

/** What a file's name says of a place. */
function placeName(place: Place) {
  const { run, sample, at } = place;
  const departure = inName(departureOf(place), MOST_OF_DEPARTURE);
  return [
    inName(run.name, MOST_OF_PART),
    /^\d+$/.test(sample) ? `sample-${sample}` : inName(sample, MOST_OF_PART),
    `step-${run.stepName(at)}`,
    departure && `with-${departure}`,
  ]
    .filter(Boolean)
    .join("-");
}

/** The name of the file of these panels. */
export function fileName([now, pinned]: Panel[]) {
  const { place } = now;
  const shown = `attention-${placeName(place)}-layer-${place.layer}-head-${place.head}-${place.show}`;
  return `${(pinned ? `${shown}-beside-${placeName(pinned.place)}` : shown).slice(0, MOST_OF_NAME).replace(/[-.]+$/, "")}.csv`;
}

/** A number as a file holds it: all digits that a float32 has. */
const exact = (value: number) => Number(value.toPrecision(9));

const stepOf = ({ run, at }: Place) => run.facts.steps[at];

export function matrixCsvOf(panels: Panel[]) {
  const quoted = (text: string | number) => `"${String(text).replaceAll('"', '""')}"`;
  const lines = ["panel,run,sample,step,layer,head,show,experiment_and_changes,query,query_token,key,key_token,value"];
  for (const { id, place, show, positions, cells, forbidden, tokens } of panels) {
    const { run, sample, layer, head, changesText } = place;
    const shown = changesText ? `${show} (what if)` : show;
    const step = stepOf(place) ?? "unknown";
    const where = [id, quoted(run.name), quoted(sample), step, layer, head, shown, quoted(departureOf(place))];
    cells.forEach((value, index) => {
      const [query, key] = [Math.floor(index / positions), index % positions];
      const number = forbidden?.[index] ? "" : exact(value);
      lines.push([...where, query, quoted(tokens[query]), key, quoted(tokens[key]), number].join(","));
    });
  }
  return `${lines.join("\n")}\n`;
}

// The numbers of the matrices as files, and the names of files.

import { modificationsOf, type MatrixPanel, type MatrixPlace } from "../../draw/matrices";
import { joined, range } from "../../model/numbers";

// Names of files may have 255 bytes.
const MAX_FILE_NAME = 200;
const MAX_MODIFICATIONS = 80;
const MAX_NAME_PART = 30;

/** Text as a part of a file's name, on every system. */
export function inName(text: string, most = MAX_FILE_NAME) {
  return text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9._]+/g, "-")
    .replace(/\.{2,}/g, ".")
    .replace(/^[-.]+|[-.]+$/g, "")
    .slice(0, most)
    .replace(/[-.]+$/, "");
}

/** What a file's name says of a place. */
function placeName(place: MatrixPlace) {
  const { run, sample, at } = place;
  const departure = inName(modificationsOf(place), MAX_MODIFICATIONS);
  return joined(
    [
      inName(run.name, MAX_NAME_PART),
      /^\d+$/.test(sample) ? `sample-${sample}` : inName(sample, MAX_NAME_PART),
      `step-${run.stepName(at)}`,
      departure && `with-${departure}`,
    ],
    "-",
  );
}

/** The name of a file of these panels. */
export function fileName([now, pinned]: MatrixPanel[], ending: string) {
  const { place } = now;
  const shown = `attention-${placeName(place)}-layer-${place.layer}-head-${place.head}-${place.show}`;
  return `${(pinned ? `${shown}-beside-${placeName(pinned.place)}` : shown).slice(0, MAX_FILE_NAME).replace(/[-.]+$/, "")}.${ending}`;
}

/** A number as a file holds it: all digits that a float32 has. */
const exact = (value: number) => Number(value.toPrecision(9));

const stepOf = ({ run, at }: MatrixPlace) => run.facts.steps[at];

export function matrixCsvOf(panels: MatrixPanel[]) {
  const quoted = (text: string | number) => `"${String(text).replaceAll('"', '""')}"`;
  const lines = [
    "panel,run,sample,step,layer,head,show,experiment_and_interventions,query,query_token,key,key_token,value",
  ];
  for (const { id, place, show, positions, cells, forbidden, tokens } of panels) {
    const { run, sample, layer, head, changesText } = place;
    const shown = changesText ? `${show} (intervention)` : show;
    const step = stepOf(place) ?? "unknown";
    const where = [id, quoted(run.name), quoted(sample), step, layer, head, shown, quoted(modificationsOf(place))];
    cells.forEach((value, index) => {
      const [query, key] = [Math.floor(index / positions), index % positions];
      const number = forbidden?.[index] ? "" : exact(value);
      lines.push([...where, query, quoted(tokens[query]), key, quoted(tokens[key]), number].join(","));
    });
  }
  return `${lines.join("\n")}\n`;
}

/** The matrices as lists of rows, `[query][key]`; null where a query may not look at a key. */
export function matrixJsonOf(panels: MatrixPanel[]) {
  const shown = panels.map(({ id, place, show, positions, cells, forbidden, tokens, marks }) => {
    const { run, sample, layer, head, changes, settings } = place;
    const value = (cell: number) => (forbidden?.[cell] ? null : exact(cells[cell]));
    const values = range(positions).map((query) => range(positions).map((key) => value(query * positions + key)));
    const label_positions = range(positions).filter((position) => marks[position]);
    const where = { panel: id, run: run.name, sample, step: stepOf(place), layer, head, show };
    return { ...where, interventions: changes, settings, tokens, label_positions, values };
  });
  return `${JSON.stringify({ panels: shown })}\n`;
}

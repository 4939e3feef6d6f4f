// The colours of the matrices: their ranges, and the legend.

import { colours, valueAt, type Scale } from "./colour";
import { fixed, range } from "../model/numbers";
import { extent, type Cells } from "./matrices";
import type { Range, Show } from "../model/types";

/** The ranges to choose from, for what is shown. @param isShare whether weights are shares of 1 */
export function rangesOf(show: Show, isShare = true): [Range, string][] {
  const unit = show === "scores" ? "same at all steps" : isShare ? "0 to 1" : "from 0";
  const ranges: [Range, string][] = [
    ["unit", unit],
    ["uniform", "× uniform (log)"],
    ["own", "own range"],
  ];
  return ranges.filter(([range]) => range !== "uniform" || (show === "weights" && isShare));
}

/** One scale of panels that are to be compared: of weights from 0 to 1, or multiples of uniform attention on a logarithmic scale. */
export function sharedScale(panels: Cells[], range: Range): Scale {
  const [{ id, show, place }] = panels;
  // Of weights that are no shares of 1, the colours say which are below 0.
  const isFree = show === "weights" && panels.some(({ place }) => !place.run.isShare);
  const isOwn = range === "own";
  const [least, highest] = isOwn || isFree ? extent(panels) : [0, 1];
  const most = Math.max(Math.abs(least), Math.abs(highest)) || 1;
  if (show === "scores") {
    const end = isOwn ? most : Math.max(...panels.map(({ place }) => place.base.mostScore(place.layer, place.head)));
    return { from: -end, to: end, diverging: true, name: id === "difference" ? "difference" : "score" };
  }
  if (show === "difference") return { from: -most, to: most, diverging: true, name: "difference" };
  if (isFree && least < 0) return { from: -most, to: most, diverging: true, name: "weight" };
  if (isOwn) return { from: least, to: highest, diverging: false, name: "weight" };
  if (isFree) return { from: 0, to: Math.max(highest, 1), diverging: false, name: "weight" };
  if (range !== "uniform") return { from: 0, to: 1, diverging: false, name: "weight" };
  // A model whose queries have one key each has no other multiple than 1.
  const multiple = Math.max(place.run.mostKeys, 2);
  return { from: 1 / multiple, to: multiple, diverging: false, log: true, name: "weight, times uniform" };
}

/** The ticks of a scale, from its first to its last colour. */
export function ticksOf(scale: Scale) {
  if (scale.log) return [`1/${scale.to} ×`, "1 ×", `${scale.to} ×`];
  const decimals = scale.to - scale.from < 0.1 ? 4 : 2;
  return [0, 0.5, 1].map((share) => fixed(valueAt(share, scale), decimals));
}

/** The colours of a scale, from its first to its last. */
export const stopsOf = (scale: Scale) => range(17).map((at) => colours(valueAt(at / 16, scale), scale).fill);

export function Legend({ scale }: { scale: Scale }) {
  const ticks = ticksOf(scale);
  return (
    <div class="legend" role="img" aria-label={`Colours: ${scale.name}, from ${ticks[0]} to ${ticks[2]}`}>
      <span>{scale.name}</span>
      <span class="legend-bar" style={{ backgroundImage: `linear-gradient(to right, ${stopsOf(scale)})` }} />
      <span class="legend-ticks">
        {ticks.map((tick) => (
          <span>{tick}</span>
        ))}
      </span>
    </div>
  );
}

// All heads of all layers, as small pictures.

import { useLayoutEffect, useRef } from "preact/hooks";
import { change } from "../view.js";
import { forbiddenOf, panelOf, shades } from "./matrices.js";
import { paint } from "./paint.js";
import { sharedScale } from "./scale.jsx";
import { range } from "../numbers.js";

/** @typedef {import("./matrices.js").Place} Place */

// Above this number of cells, pictures wait until nothing has moved for some time.
const MOST_AT_ONCE = 8192;
const WAIT = 120;

/** @param {HTMLElement} strip @param {Place} place @param {import("../types").Range} colourRange */
function paintAll(strip, place, colourRange) {
  const forbidden = forbiddenOf(place);
  for (const canvas of strip.querySelectorAll("canvas")) {
    const [layer, head] = [Number(canvas.dataset.layer), Number(canvas.dataset.head)];
    const panel = panelOf("now", { ...place, layer, head });
    // Ranges of scores differ between heads.
    const scale = sharedScale([panel], place.show === "scores" ? "own" : colourRange);
    paint(canvas, shades(panel, scale), forbidden, scale);
  }
}

/** @param {{ place: Place, colourRange: import("../types").Range }} props */
export function Thumbnails({ place, colourRange }) {
  const strip = useRef(/** @type {HTMLDivElement | null} */ (null));
  const { run, layer: chosenLayer, head: chosenHead } = place;
  const { layers, heads, positions } = run.facts;
  const isLarge = layers * heads * positions ** 2 * run.members(place.sample).length > MOST_AT_ONCE;
  useLayoutEffect(() => {
    const element = strip.current;
    if (!element) return;
    if (!isLarge) return paintAll(element, place, colourRange);
    const timer = setTimeout(() => paintAll(element, place, colourRange), WAIT);
    return () => clearTimeout(timer);
  }, [run, place.sample, place.at, place.show, colourRange]);

  /** @param {KeyboardEvent} event */
  function onKeyDown(event) {
    const by = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    // Left and right go on in the next layer; up and down stay in the head.
    const at = (chosenLayer * heads + chosenHead + by[0] * heads + by[1] + layers * heads) % (layers * heads);
    const [layer, head] = [Math.floor(at / heads), at % heads];
    change({ layer, head });
    /** @type {HTMLElement | null | undefined} */ (strip.current?.querySelector(`#head-${layer}-${head}`))?.focus();
  }

  return (
    <div id="heads" ref={strip} role="radiogroup" aria-label="Heads" onKeyDown={onKeyDown}>
      {range(layers).map((layer) => (
        <div class="layer" key={layer}>
          {layers > 1 && <span class="layer-name">layer {layer}</span>}
          {range(heads).map((head) => {
            const isChosen = layer === chosenLayer && head === chosenHead;
            return (
              <button type="button" role="radio" key={head} id={`head-${layer}-${head}`} aria-checked={isChosen} tabIndex={isChosen ? 0 : -1} aria-label={`layer ${layer}, head ${head}`} onClick={() => change({ layer, head })}>
                <canvas width={positions} height={positions} data-layer={layer} data-head={head} aria-hidden="true" />
                <span>{heads > 1 ? `head ${head}` : "1 head"}</span>
              </button>
            );
          })}
        </div>
      ))}
    </div>
  );
}

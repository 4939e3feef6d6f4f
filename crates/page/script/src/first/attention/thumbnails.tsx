// All heads of all layers in one view, as small pictures, with the numbers of one of them.

import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { fixed, range } from "../../model/numbers";
import { change } from "../../state/view";
import { current10Hz, currentRange } from "../../state/current";
import { nowPanel } from "./panels";
import { meaningOf } from "../../draw/dom";
import { cellsOf, shades, type MatrixPlace } from "../../draw/matrices";
import { paint } from "../../draw/paint";
import { sharedScale } from "../../draw/scale";
import { placesText, weightsOf } from "../../model/sentence";
import type { Range } from "../../model/types";

// Above this number of cells, pictures wait until nothing has moved for some time, and are then painted a few at a time.
const MAX_AT_ONCE = 8192;
const WAIT_MS = 120;
const SLICE_MS = 12;
// More heads than these have no room for names beside their pictures.
const MAX_NAMED = 6;
// The pixels on a side of a picture.
const MAX_PIXELS = 32;

function paintHead(canvas: HTMLCanvasElement, place: MatrixPlace, colourRange: Range) {
  const [layer, head] = [Number(canvas.dataset.layer), Number(canvas.dataset.head)];
  const cells = cellsOf("now", { ...place, layer, head });
  // Ranges of scores differ between heads.
  const scale = sharedScale([cells], place.show === "scores" ? "own" : colourRange);
  paint(canvas, shades(cells, scale), cells.forbidden, scale, MAX_PIXELS);
}

/** The heads, if there are several. */
export function Strip() {
  const place = nowPanel.value?.place;
  return place && place.run.facts.layers * place.run.facts.heads > 1 ? <Thumbnails place={place} /> : null;
}

function Thumbnails({ place }: { place: MatrixPlace }) {
  const colourRange = currentRange.value;
  const strip = useRef<HTMLDivElement>(null);
  /** The head under the pointer; none shows the numbers of the chosen one. */
  const pointed = useSignal<{ layer: number; head: number } | null>(null);
  const { run, layer: chosenLayer, head: chosenHead } = place;
  const { layers, heads, positions } = run.facts;
  useLayoutEffect(() => {
    const canvases = strip.current?.querySelectorAll("canvas") ?? [];
    let [next, timer] = [0, 0];
    const paintSome = () => {
      const start = performance.now();
      while (next < canvases.length && performance.now() - start < SLICE_MS)
        paintHead(canvases[next++], place, colourRange);
      if (next < canvases.length) timer = setTimeout(paintSome);
    };
    if (layers * heads * positions ** 2 * run.members(place.sample).length > MAX_AT_ONCE)
      timer = setTimeout(paintSome, WAIT_MS);
    else for (const canvas of canvases) paintHead(canvas, place, colourRange);
    return () => clearTimeout(timer);
  }, [run, place.sample, place.at, place.show, colourRange]);

  function onKeyDown(event: KeyboardEvent) {
    const by = meaningOf(event, { ArrowRight: heads, ArrowLeft: -heads, ArrowDown: 1, ArrowUp: -1 });
    if (!by) return;
    // Left and right go on in the next layer; up and down stay in the head.
    const at = (chosenLayer * heads + chosenHead + by + layers * heads) % (layers * heads);
    const [layer, head] = [Math.floor(at / heads), at % heads];
    change({ layer, head });
    (strip.current?.querySelector(`#head-${layer}-${head}`) as HTMLElement | null | undefined)?.focus();
  }

  /** The head of an event. */
  function headOf(event: Event) {
    const canvas = (event.target as Element).closest("#heads button")?.querySelector("canvas");
    return canvas ? { layer: Number(canvas.dataset.layer), head: Number(canvas.dataset.head) } : null;
  }

  const off = place.changes.heads ?? [];
  return (
    <>
      <div
        id="heads"
        ref={strip}
        class={heads > MAX_NAMED ? "many" : ""}
        role="radiogroup"
        aria-label="Heads"
        onKeyDown={onKeyDown}
        onClick={(event) => change(headOf(event) ?? {})}
        onPointerOver={(event) => {
          pointed.value = headOf(event);
        }}
        onPointerLeave={() => {
          pointed.value = null;
        }}
      >
        {range(layers).map((layer) => (
          <Layer
            key={layer}
            layer={layer}
            layers={layers}
            heads={heads}
            chosen={layer === chosenLayer ? chosenHead : -1}
            off={off
              .filter(([one]) => one === layer)
              .map(([, head]) => head)
              .join()}
          />
        ))}
      </div>
      <Numbers {...(pointed.value ?? { layer: chosenLayer, head: chosenHead })} />
    </>
  );
}

type LayerProps = { layer: number; layers: number; heads: number; chosen: number; off: string };

/** The heads of a layer. Of a thousand heads, only those are made again that change. */
function Layer({ layer, layers, heads, chosen, off }: LayerProps) {
  return useMemo(() => {
    const isOff = (head: number) => off.split(",").includes(String(head));
    return (
      <div class="row">
        {layers > 1 && <span class="layer-name">layer {layer}</span>}
        {range(heads).map((head) => (
          <button
            type="button"
            role="radio"
            key={head}
            id={`head-${layer}-${head}`}
            class={isOff(head) ? "off" : ""}
            aria-checked={head === chosen}
            tabIndex={head === chosen ? 0 : -1}
            aria-label={`layer ${layer}, head ${head}${isOff(head) ? ", off" : ""}`}
          >
            <canvas class="masked" data-layer={layer} data-head={head} aria-hidden="true" />
            <span>{heads > 1 ? `head ${head}` : "1 head"}</span>
          </button>
        ))}
      </div>
    );
  }, [layer, layers, heads, chosen, off]);
}

/** Where the shown query looks most in a head. */
function Numbers({ layer, head }: { layer: number; head: number }) {
  const now = current10Hz.value;
  if (!now) return null;
  const { run, sample, query } = now;
  const weights = weightsOf({ ...now, layer, head });
  const most = weights.indexOf(Math.max(...weights));
  return (
    <p id="head-numbers" class="hint">
      Layer {layer}, head {head}: <bdi>{run.tokenAt(sample, query)}</bdi> gives the most, {fixed(weights[most])}, to{" "}
      <bdi>{most === query ? "itself" : placesText(run, sample, [most], query)}</bdi>.
    </p>
  );
}

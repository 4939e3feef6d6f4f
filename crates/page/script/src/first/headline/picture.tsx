// The matrices as a picture of its own, side by side: SVG, and the same in pixels.

import { render } from "preact";
import { colours, type Scale } from "../../draw/colour";
import { MAX_CELLS, shades, type MatrixPanel } from "../../draw/matrices";
import { stopsOf, ticksOf } from "../../draw/scale";
import { fixed, joined, range, shorten } from "../../model/numbers";

const [MARGIN, GAP, LINE, LEGEND] = [12, 28, 18, 180];
// A letter of a title is about this wide.
const LETTER = 7.6;
// Browsers refuse canvases of more pixels than this on a side.
const MAX_PIXELS = 8000;

/** What XML cannot hold. */
const NO_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

/** A text, kept from reordering what stands beside it where it runs from right to left. */
const isolated = (text: string) =>
  /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;

/** Where things of a panel are, in pixels. */
function layoutOf(panel: MatrixPanel, isLarge: boolean) {
  const [names, wide, high] = isLarge ? [96, 12, 12] : [118, 64, 34];
  const width = Math.max(names + panel.positions * wide, 400);
  const lines: string[] = [];
  for (const part of panel.title.split(" · ")) {
    const longer = joined([lines.at(-1), part], " · ");
    if (lines.length && longer.length * LETTER <= width) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return { names, wide, high, width, lines };
}

type DrawnProps = { panel: MatrixPanel; layout: ReturnType<typeof layoutOf>; top: number; isLarge: boolean };

/** One matrix with its title, names and colours, its left end at 0 and its first row at `top`. */
function Drawn({ panel, layout: { names, wide, high, lines }, top, isLarge }: DrawnProps) {
  const { id, positions, cells, forbidden, tokens, marks } = panel;
  const scale = panel.scale as Scale;
  const shade = shades(panel, scale);
  const ticks = ticksOf(scale);
  const end = top + positions * high + 14;
  const name = (at: number, most: number) => `${marks[at] ? "◆ " : ""}${at}: ${isolated(shorten(tokens[at], most))}`;
  // Of many names above the columns, those that decide and every fourth have room, as numbers.
  const above = (at: number) => (!isLarge ? name(at, 6) : marks[at] || at % 4 === 0 ? String(at) : "");
  return (
    <>
      {lines.map((line, at) => (
        <text y={MARGIN + 14 + LINE * at} font-size="14">
          {line}
        </text>
      ))}
      <text y={top - 8}>query ↓ key →</text>
      {range(positions).map((at) => (
        <>
          <text x={names + (at + 0.5) * wide} y={top - 8} text-anchor="middle">
            {above(at)}
          </text>
          <text x={names - 6} y={top + (at + 0.5) * high + 4} text-anchor="end">
            {name(at, 12)}
          </text>
        </>
      ))}
      {range(cells.length).map((cell) => {
        const [x, y] = [names + (cell % positions) * wide, top + Math.floor(cell / positions) * high];
        const { fill, ink } = forbidden?.[cell] ? { fill: "url(#masked)", ink: "" } : colours(shade[cell], scale);
        return (
          <>
            <rect x={x} y={y} width={wide} height={high} fill={fill} />
            {ink && !isLarge && (
              <text x={x + wide / 2} y={y + high / 2 + 4} font-size="12" text-anchor="middle" fill={ink}>
                {fixed(cells[cell])}
              </text>
            )}
          </>
        );
      })}
      <linearGradient id={`scale-${id}`}>
        {stopsOf(scale).map((colour, at, { length }) => (
          <stop offset={at / (length - 1)} stop-color={colour} />
        ))}
      </linearGradient>
      <rect x={names} y={end} width={LEGEND} height="12" fill={`url(#scale-${id})`} />
      {ticks.map((tick, at) => (
        <text x={names + (at / 2) * LEGEND} y={end + 26} text-anchor="middle">
          {tick}
        </text>
      ))}
      <text x={names + LEGEND + 16} y={end + 10}>
        {joined([scale.name, forbidden && "hatched: masked"], "; ")}
      </text>
    </>
  );
}

/** The panels as SVG, with its size in pixels. */
export function svgOf(panels: MatrixPanel[]) {
  const most = Math.max(...panels.map(({ positions }) => positions));
  const isLarge = most > MAX_CELLS;
  const layouts = panels.map((panel) => layoutOf(panel, isLarge));
  const top = MARGIN + LINE * Math.max(...layouts.map(({ lines }) => lines.length)) + 34;
  const [height, root] = [top + most * layouts[0].high + 52, document.createElement("div")];
  const lefts = layouts.map((_, at) => layouts.slice(0, at).reduce((left, { width }) => left + width + GAP, MARGIN));
  const width = (lefts.at(-1) ?? 0) + (layouts.at(-1)?.width ?? 0) + MARGIN;
  render(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      font-family="system-ui, sans-serif"
      font-size={isLarge ? 9 : 11}
      fill="#1d1d1f"
    >
      <title>
        {joined(
          panels.map(({ title }) => title),
          "; ",
        )}
      </title>
      <pattern id="masked" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="6" height="6" fill="#fff" />
        <rect width="2" height="6" fill="#b8b8bd" />
      </pattern>
      <rect width={width} height={height} fill="#fff" />
      {panels.map((panel, at) => (
        <g transform={`translate(${lefts[at]} 0)`}>
          <Drawn panel={panel} layout={layouts[at]} top={top} isLarge={isLarge} />
        </g>
      ))}
    </svg>,
    root,
  );
  const text = new XMLSerializer().serializeToString(root.firstChild as Node).replace(NO_XML, "\ufffd");
  return { svg: new Blob([text], { type: "image/svg+xml" }), width, height };
}

/** The same picture in pixels, two to each of its own where a browser can. */
export async function pngOf({ svg, width, height }: ReturnType<typeof svgOf>): Promise<Blob> {
  const image = new Image(width, height);
  image.src = URL.createObjectURL(svg);
  await image.decode().finally(() => URL.revokeObjectURL(image.src));
  const share = Math.min(2, MAX_PIXELS / Math.max(width, height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(width * share), Math.ceil(height * share)];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("this browser makes no PNG of this size")))),
  );
}

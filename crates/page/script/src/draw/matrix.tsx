// A matrix as a grid of cells with numbers.

import { colours, type Scale } from "./colour";
import { fixed, joined } from "../model/numbers";
import { current } from "../state/state";
import { change } from "../state/view";
import { meaningOf } from "./dom";
import { brief, reading, shades, type MatrixPanel } from "./matrices";

// More positions than this leave room for two decimals.
export const MAX_LONG_CELLS = 12;

const MOVES: Record<string, [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  Home: [0, -Infinity],
  End: [0, Infinity],
  PageUp: [-Infinity, 0],
  PageDown: [Infinity, 0],
};

/**
 * The arrow keys, Home and End move the chosen cell; Page Up and Page Down go to the first and last query. Returns the cell,
 * or null for another key.
 */
export function move(event: KeyboardEvent, positions: number, query: number, key: number) {
  const by = meaningOf(event, MOVES);
  if (!by) return null;
  const within = (value: number) => Math.min(positions - 1, Math.max(0, value));
  const [nextQuery, nextKey] = [within(query + by[0]), within(key + by[1])];
  change({ query: nextQuery, key: nextKey });
  return { query: nextQuery, key: nextKey };
}

type NameProps = { panel: MatrixPanel; position: number; scope: string; chosen?: boolean };

function Name({ panel, position, scope, chosen = false }: NameProps) {
  const [token, mark] = [panel.tokens[position], panel.marks[position]];
  return (
    <th
      scope={scope}
      class={joined([mark && "marked", chosen && "chosen"])}
      title={`position ${position}: ${token}${mark ? ", decides the label by the rule" : ""}`}
    >
      {mark ? "◆ " : ""}
      <span class="at">{position}</span> <bdi>{token}</bdi>
    </th>
  );
}

type RowProps = {
  panel: MatrixPanel;
  shade: Float64Array;
  query: number;
  chosenQuery: number;
  chosenKey: number;
  level: string;
};

function Row({ panel, shade, query, chosenQuery, chosenKey, level }: RowProps) {
  const { positions, scale, forbidden, marks } = panel;
  const cells = [];
  for (let key = 0; key < positions; key++) {
    const value = panel.cells[query * positions + key];
    const isChosen = query === chosenQuery && key === chosenKey;
    const isForbidden = forbidden?.[query * positions + key] === 1;
    const colour = isForbidden ? null : colours(shade[query * positions + key], scale as Scale);
    cells.push(
      <td
        key={key}
        role="gridcell"
        tabIndex={isChosen ? 0 : -1}
        aria-selected={isChosen}
        data-key={key}
        class={`${isForbidden ? "masked " : ""}${query === chosenQuery ? "chosen-row " : ""}${marks[key] ? "marked" : ""}`}
        aria-label={isChosen ? reading(panel, query, key) : undefined}
        data-short={isForbidden || level === "long" ? null : level === "short" ? fixed(value, 2) : brief(value)}
        style={{ backgroundColor: colour?.fill ?? "", color: colour?.ink ?? "" }}
      >
        {isForbidden ? "" : <span>{fixed(value)}</span>}
      </td>,
    );
  }
  return (
    <tr data-query={query}>
      <Name panel={panel} position={query} scope="row" chosen={query === chosenQuery} />
      {cells}
    </tr>
  );
}

/** The cell of an event in the grid. */
function cellOf(event: Event) {
  const cell = (event.target as Element).closest("td[data-key]");
  return (
    cell && {
      key: Number(cell.getAttribute("data-key")),
      query: Number(cell.closest("tr")?.getAttribute("data-query")),
    }
  );
}

type MatrixProps = {
  panel: MatrixPanel;
  query: number;
  chosen: number;
  level: "long" | "short" | "brief";
  size: number;
};

/**
 * The text has four decimals; where there is no room for them, the style shows `data-short` in their place.
 */
export function Matrix({ panel, query, chosen, level, size }: MatrixProps) {
  const { positions } = panel;
  function onKeyDown(event: KeyboardEvent & { currentTarget: HTMLTableElement }) {
    const moved = current.value && move(event, positions, current.value.query, current.value.key);
    if (moved)
      (event.currentTarget.tBodies[0].rows[moved.query].cells[moved.key + 1] as HTMLElement | undefined)?.focus();
  }
  function onClick(event: Event) {
    const cell = cellOf(event);
    if (cell) change(cell);
  }
  const shade = shades(panel, panel.scale);
  return (
    <table
      role="grid"
      id={`grid-${panel.id}`}
      class={`heatmap ${level} ${positions > MAX_LONG_CELLS ? "small" : ""}`}
      style={{ fontSize: positions > MAX_LONG_CELLS ? "" : `${size}px` }}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      <caption>
        <span>{panel.title}</span>
      </caption>
      <thead>
        <tr>
          <td class="corner">query \ key</td>
          {panel.tokens.map((_, position) => (
            <Name panel={panel} position={position} scope="col" key={position} />
          ))}
        </tr>
      </thead>
      <tbody>
        {panel.tokens.map((_, row) => (
          <Row
            panel={panel}
            shade={shade}
            query={row}
            chosenQuery={query}
            chosenKey={chosen}
            level={positions > MAX_LONG_CELLS ? "short" : level}
            key={row}
          />
        ))}
      </tbody>
    </table>
  );
}

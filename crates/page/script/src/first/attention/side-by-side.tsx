// The matrices that stand side by side, with their colours, and the pictures of all heads.

import { current10Hz } from "../../state/current";
import { useSize } from "../../draw/dom";
import { apart, fitting, MAX_CELLS } from "../../draw/matrices";
import { Matrix, MAX_LONG_CELLS } from "../../draw/matrix";
import { Picture } from "../../draw/picture";
import { Legend } from "../../draw/scale";
import { nowPanel, panels, pinnedPanel } from "./panels";
import { joined } from "../../model/numbers";

// Matrices stand side by side from this width on, in rem.
const SIDE_BY_SIDE = 34;
const GAP = 10;
// The names of rows, and the least width of a column whose name has room for a token, in rem.
const WIDE_NAMES = 5.2;
const MIN_WIDE_REM = 3.3;

export function Matrices() {
  const [home, { width, unit }] = useSize();
  const rem = 16 * unit;
  const all = panels.value;
  const now = current10Hz.value;
  if (!now) return null;
  const isBeside = all.length > 1 && width >= SIDE_BY_SIDE * rem;
  const own = isBeside ? (width - GAP * (all.length - 1)) / all.length : width;
  return (
    <div
      id="matrices"
      ref={home}
      class={joined([isBeside && "beside", all.length > 1 && "several", now.hasInterventions && "changed"])}
      style={{ "--columns": isBeside ? all.length : 1 }}
    >
      {all.map((panel) => {
        const { positions, id } = panel;
        if (positions > MAX_CELLS)
          return <Picture panel={panel} query={now.query} chosen={now.key} room={own} rem={rem} key={id} />;
        const isNarrow = (own - WIDE_NAMES * rem) / positions < MIN_WIDE_REM * rem;
        const names = isNarrow ? (own < 20 * rem ? 2.8 : 4) : WIDE_NAMES;
        const { level, size } = fitting((own - names * rem) / positions - 2, rem);
        return (
          <div
            class={joined([
              "scroll",
              positions > MAX_LONG_CELLS && "many",
              (isNarrow || positions > MAX_LONG_CELLS) && "narrow",
            ])}
            key={id}
            style={{ "--positions": positions, "--names": `${names}rem`, "--room": `${own - 8}px` }}
          >
            <Matrix panel={panel} query={now.query} chosen={now.key} level={level} size={size} />
          </div>
        );
      })}
    </div>
  );
}

/** Why there is no pinned matrix, or no difference. */
export function Reason() {
  const [now, pinned] = [nowPanel.value, pinnedPanel.value];
  const text = typeof pinned === "string" ? pinned : now && pinned ? apart(now, pinned) : "";
  return text ? (
    <p class="hint" id="pin-reason">
      {text}
    </p>
  ) : null;
}

export function Foot() {
  const all = panels.value;
  if (!all.length) return null;
  // One legend for each scale.
  const legends = all.filter(({ scale }, at) => all.findIndex((other) => other.scale === scale) === at);
  return <div class="row">{legends.map(({ id, scale }) => scale && <Legend scale={scale} key={id} />)}</div>;
}

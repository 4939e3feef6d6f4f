// Tokens in one row that scrolls, and above them bands from one position to where it looks: each ends at its own tile.

import { useEffect, useRef } from "preact/hooks";
import { Arcs } from "./arcs";
import type { ComponentChildren } from "preact";

type TokenRowProps = {
  isFaint?: boolean;
  query: number;
  weights: ArrayLike<number>;
  isMarked: (key: number) => boolean;
  tile: string;
  about: string;
  sight?: number;
  children: ComponentChildren;
};

/** @param props `tile`: the least width of a tile; `about`: what is shown, apart from its step; `sight`: the position that is to be seen, in place of the one that gets the most; `isFaint`: whether the bands count for nothing */
export function TokenRow({ isFaint = false, query, weights, isMarked, tile, about, sight, children }: TokenRowProps) {
  const row = useRef<HTMLDivElement>(null);
  // What a reader has opened begins with the token that gets the most. While steps play, the row stays where it is.
  useEffect(() => {
    const box = row.current;
    if (!box || box.scrollWidth <= box.clientWidth) return;
    const width = box.scrollWidth / weights.length;
    const most = sight ?? Array.from(weights).indexOf(Math.max(...Array.from(weights)));
    const [from, to] = [Math.min(query, most) * width, (Math.max(query, most) + 1) * width];
    if (to - from <= box.clientWidth) box.scrollLeft = Math.min(Math.max(box.scrollLeft, to - box.clientWidth), from);
    else box.scrollLeft = (most + 0.5) * width - box.clientWidth / 2;
  }, [about]);
  return (
    <div class={isFaint ? "token-row faint" : "token-row"} ref={row}>
      <div class="token-columns" style={{ "--positions": weights.length, "--tile": tile }}>
        <Arcs query={query} weights={weights} isMarked={isMarked} />
        {children}
      </div>
    </div>
  );
}

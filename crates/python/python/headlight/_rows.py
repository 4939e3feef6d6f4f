"""The rows of a sweep."""

from __future__ import annotations

from typing import Any

from ._frames import frame
from ._page import Page


class Rows(Page):
    """The results of many runs: a dict for each."""

    rows: list[dict[str, Any]]

    def _row(self, seed: int, point: int | None) -> dict[str, Any]:
        of_seed = [row for row in self.rows if row["seed"] == seed]
        if not of_seed:
            raise ValueError(f"seed={seed!r:.100}: the sweep has no such seed; it has {self.rows[0]['seed']} to {self.rows[-1]['seed']}")
        rows = of_seed if point is None else [row for row in of_seed if row.get("point") == point]
        if point is not None and "point" not in of_seed[0]:
            raise ValueError(f"point={point!r:.100}: the sweep has no grid; leave point= out")
        if len(rows) != 1:
            points = ", ".join(str(row.get("point")) for row in of_seed)
            raise ValueError(f"point={point!r:.100}: name one of the grid's points that seed {seed} has: {points}")
        if "error" in rows[0]:
            raise ValueError(f"the run of seed {seed} failed: {rows[0]['error']}")
        return rows[0]

    @property
    def table(self) -> Any:
        """A data frame with a row per run, in the order of the seeds; some columns hold lists."""
        return frame(self.rows)

    @staticmethod
    def _is_learned(row: dict[str, Any]) -> bool:
        return row.get("learned_at_step") is not None

    @property
    def _failed(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if "error" in row]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        learned = sum(self._is_learned(row) for row in self.rows)
        failed = f"{len(self._failed)} failed, " if self._failed else ""
        return f"<headlight.Sweep: {len(self.rows)} runs, {failed}{learned} learned>"

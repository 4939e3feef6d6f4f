"""Sweeps: many seeds of one config."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _headlight
from ._config import Source, sections_json, values_json
from ._frames import frame
from ._page import picture
from ._progress import progress as shown

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keys import Sections


def sweep(
    config: Source = "notebook",
    *,
    seeds: range | int | tuple[int, int] = range(100),
    grid: Mapping[str, Sequence[Any]] | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    **sections: Unpack[Sections],
) -> Sweep:
    """Trains many runs of a config on all cores, and keeps their results.

    Args:
        config: The name of a built-in config, a path of a TOML file, or a dict.
        seeds: A range with step 1, a pair `(first, end)`, or the number of seeds, from 0.
        grid: Values by key, such as `{"training.learning_rate": [1e-3, 3e-3]}`; each seed is trained with each combination.
        threads: The largest number of threads; by default, the number of cores.
        out: The results file to keep, a .jsonl file. Runs that it already holds are not trained again.
        progress: As in `train`.
        **sections: Changes to the config by section.

    Raises:
        ValueError: The config, the seeds or the grid are invalid.
        KeyboardInterrupt: After Ctrl-C.
    """
    first, end = _seeds(seeds)
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads}: at least one thread is needed")
    points = json.dumps(_points({} if grid is None else grid))
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        if isinstance(config, Mapping):
            path: str | os.PathLike[str] = Path(folder) / "config.toml"
            Path(path).write_text(_headlight.toml_of(sections_json(config)), encoding="utf-8")
        else:
            path = config
        file = Path(folder) / "rows.jsonl" if out is None else Path(out)
        with shown(progress, "run") as report:
            svg = _headlight.sweep(path, sections_json(sections), (first, end), points, threads, file, report)
        return Sweep([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()], svg)


def _seeds(seeds: range | int | tuple[int, int]) -> tuple[int, int]:
    if isinstance(seeds, range):
        if seeds.step != 1:
            raise ValueError(f"seeds={seeds}: the step of the range must be 1")
        first, end = seeds.start, seeds.stop
    elif isinstance(seeds, tuple) and len(seeds) == 2 and all(isinstance(seed, (int, np.integer)) for seed in seeds):
        first, end = int(seeds[0]), int(seeds[1])
    elif isinstance(seeds, (int, np.integer)):
        first, end = 0, int(seeds)
    else:
        raise TypeError(f"seeds={seeds!r:.100}: give a range, a number of seeds, or a pair of the first seed and the end")
    if first < 0 or end < 0:
        raise ValueError(f"seeds={seeds}: the smallest seed is 0")
    if end <= first:
        raise ValueError(f"seeds={seeds}: at least one seed is needed")
    return first, end


def _points(grid: Mapping[str, Sequence[Any]]) -> list[tuple[str, list[Any]]]:
    """The keys of a grid and their values."""
    if not isinstance(grid, Mapping):
        raise TypeError(f"grid={grid!r:.100}: a dict is needed, with a list of values for each key")
    points = []
    for key, values in grid.items():
        if isinstance(values, (str, Mapping)) or not hasattr(values, "__iter__"):
            raise TypeError(f"grid: `{key}` needs a list of values, not {values!r:.100}")
        points.append((key, values_json(key, values)))
        if not points[-1][1]:
            raise ValueError(f"grid: `{key}` has no values; give at least one")
    return points


class Sweep:
    """The results of many runs.

    Attributes:
        rows: A dict per run, as `headlight sweep` writes them.
        svg: Pictures of how the runs learned and how their results are distributed.
    """

    def __init__(self, rows: list[dict[str, Any]], svg: str) -> None:
        self.rows = rows
        self.svg = svg

    @property
    def table(self) -> Any:
        """A data frame with a row per run, in the order of the seeds; some columns hold lists."""
        return frame(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        learned = sum(row.get("learned_at_step") is not None for row in self.rows)
        return f"<headlight.Sweep: {len(self.rows)} runs, {learned} learned>"

    def _repr_html_(self) -> str:
        return picture(self.svg, repr(self))

"""Sweeps: many seeds of one config."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _headlight
from ._changes import index
from ._config import resolve
from ._fit import Fit
from ._folders import Folder
from ._frames import frame
from ._page import Page, document, picture
from ._progress import progress as shown
from ._values import Source, sections_json, values_json

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
        seeds: A range with step 1, a pair `(first, end)` without `end`, or the number of seeds, from 0.
        grid: Values by key, such as `{"training.learning_rate": [1e-3, 3e-3]}`; each seed is trained with each combination.
        threads: The largest number of threads; by default, the number of cores.
        out: The results file to keep, a .jsonl file. Runs that it already holds are not trained again.
        progress: As in `train`.
        **sections: Changes to the config by section.

    Raises:
        ValueError: The config, the seeds or the grid are invalid.
        KeyboardInterrupt: After Ctrl-C.
    """
    first, end = seeds_of(seeds)
    if threads is not None and index(threads, "threads") < 1:
        raise ValueError(f"threads={threads}: at least one thread is needed")
    points = json.dumps(points_of({} if grid is None else grid))
    folder = Folder()
    if isinstance(config, Mapping):
        path: str | os.PathLike[str] = folder.path / "config.toml"
        Path(path).write_text(_headlight.toml_of(sections_json(config)), encoding="utf-8")
    else:
        path = config
    file = folder.path / "rows.jsonl" if out is None else Path(out)
    with shown(progress, "run") as report:
        _headlight.sweep(path, sections_json(sections), (first, end), points, threads, file, report)
    swept = Sweep(_rows(file), _headlight.sweep_picture(file), _origin(config, sections))
    failed = swept._failed
    if failed:
        warnings.warn(f"{len(failed)} of {len(swept)} runs failed; the first, of seed {failed[0]['seed']}: {failed[0]['error']}", stacklevel=2)
    return swept


def seeds_of(seeds: range | int | tuple[int, int]) -> tuple[int, int]:
    if isinstance(seeds, range):
        if seeds.step != 1:
            raise ValueError(f"seeds={seeds}: the step of the range must be 1")
        first, end = seeds.start, seeds.stop
    elif isinstance(seeds, tuple) and len(seeds) == 2 and all(isinstance(seed, Integral) for seed in seeds):
        first, end = int(seeds[0]), int(seeds[1])
    elif isinstance(seeds, Integral) and not isinstance(seeds, bool):
        first, end = 0, int(seeds)
    else:
        raise TypeError(f"seeds={seeds!r:.100}: give a range, a number of seeds, or a pair of the first seed and the end")
    if not 0 <= first < end <= 2**63:
        raise ValueError(f"seeds={seeds}: at least one seed is needed; seeds are from 0 to 2**63 - 1")
    return first, end


def points_of(grid: Mapping[str, Sequence[Any]]) -> list[tuple[str, list[Any]]]:
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


def _rows(file: Path) -> list[dict[str, Any]]:
    # A last line without an end was cut short.
    *lines, _ = file.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines]


def _origin(config: Source, sections: Mapping[str, Any]) -> tuple[Source, dict[str, Any]]:
    """A config and its changes, so that they can be pickled and a path stays the same file."""
    if isinstance(config, Mapping):
        return json.loads(sections_json(config)), json.loads(sections_json(sections))
    name = os.fspath(config)
    # As Headlight finds it: a folder may have the name of a built-in config.
    is_file = os.path.isfile(name) or os.path.isfile(f"{name}.toml")
    return os.path.abspath(name) if is_file else name, json.loads(sections_json(sections))


class Sweep(Page):
    """The results of many runs.

    Attributes:
        rows: A dict per run, as `headlight sweep` writes them.
        svg: Pictures of how the runs learned and how their results are distributed.
    """

    def __init__(self, rows: list[dict[str, Any]], svg: str, origin: tuple[Source, dict[str, Any]] | None = None) -> None:
        self.rows = rows
        self.svg = svg
        self._origin = origin

    @classmethod
    def open(cls, path: str | os.PathLike[str], config: Source | None = None, **sections: Unpack[Sections]) -> Sweep:
        """The sweep of a results file, which `headlight sweep` or `hl.sweep(out=...)` wrote. Only `model` needs its config, and
        the same changes as the sweep had.

        Raises:
            ValueError: The file is not a results file.
            OSError: It cannot be read.
        """
        svg = _headlight.sweep_picture(path)
        return cls(_rows(Path(path)), svg, None if config is None else _origin(config, sections))

    def model(self, seed: int, point: int | None = None) -> Fit:
        """The model of a seed, trained again in memory: its weights have the hash of the seed's row.

        Args:
            seed: A seed of the sweep.
            point: The point of the grid: the value of `point` in the seed's rows. Needed if the sweep has a grid.

        Raises:
            ValueError: The sweep has no such row, its run failed, or the weights are not those of the row.
        """
        row = self._row(seed, point)
        if self._origin is None:
            raise ValueError("a results file does not hold its config; give it: hl.Sweep.open(path, config)")
        config, changes = self._origin
        sections = {**changes, "seed": int(seed)}
        for name, value in row.items():
            section, dot, key = name.partition(".")
            if dot:
                sections[section] = {**sections.get(section, {}), key: value}
        last, _, rows, loss = _headlight.fit(resolve(config, sections), None, None)
        fitted = Fit(last, None, rows, loss)
        if fitted.weights_sha256 != row["weights_sha256"]:
            raise ValueError(
                f"seed {seed} trained to weights with the SHA-256 {fitted.weights_sha256}, but its row has {row['weights_sha256']}; give the config "
                "and the changes of the sweep"
            )
        return fitted

    def _row(self, seed: int, point: int | None) -> dict[str, Any]:
        of_seed = [row for row in self.rows if row["seed"] == seed]
        if not of_seed:
            has = f"{self.rows[0]['seed']} to {self.rows[-1]['seed']}" if self.rows else "no rows"
            raise ValueError(f"seed={seed!r:.100}: the sweep has no such seed; it has {has}")
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

    @property
    def _failed(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if "error" in row]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        learned = sum(row.get("learned_at_step") is not None for row in self.rows)
        failed = f"{len(self._failed)} failed, " if self._failed else ""
        return f"<headlight.Sweep: {len(self.rows)} runs, {failed}{learned} learned>"

    def html(self) -> str:
        """The pictures as an HTML file of its own."""
        return document(repr(self)[1:-1], self.svg)

    def _repr_html_(self) -> str:
        return picture(self.svg, repr(self))

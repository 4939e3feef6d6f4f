"""Sweeps: many seeds of one config."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _headlight
from ._config import Source, to_json
from ._frames import frame
from ._progress import progress as shown
from ._run import _column


def sweep(
    config: Source = "notebook",
    *,
    seeds: range | int | tuple[int, int] = range(100),
    grid: Mapping[str, Sequence[Any]] | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    **sections: Any,
) -> Sweep:
    """Trains many runs of a config on all cores, and keeps their results.

    Args:
        config: The name of a built-in config, a path of a TOML file, or a dict.
        seeds: A range of seeds without gaps, or how many, from 0.
        grid: Values by key, such as `{"training.learning_rate": [1e-3, 3e-3]}`; each seed is trained with each.
        threads: At most so many threads.
        out: The results file, a .jsonl file, to keep; runs that it holds already are not trained again.
        progress: As in `train`.
        **sections: Changes of the config by section.

    Raises:
        ValueError: The config, the seeds or the grid are invalid.
        KeyboardInterrupt: After Ctrl-C.
    """
    first, end = _seeds(seeds)
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads}: at least one thread is needed")
    points = [f"{key}={','.join(_toml(value) for value in values)}" for key, values in (grid or {}).items()]
    changes = _changes(sections)
    count = (end - first) * int(np.prod([len(values) for values in (grid or {}).values()], dtype=int))
    with tempfile.TemporaryDirectory(prefix="headlight-") as folder:
        if isinstance(config, Mapping):
            path: str | os.PathLike[str] = Path(folder) / "config.toml"
            Path(path).write_text(_table(config), encoding="utf-8")
        else:
            path = config
        file = Path(folder) / "rows.jsonl" if out is None else Path(out)
        with shown(progress, count, "run") as report:
            picture = _headlight.sweep(path, changes, (first, end), points, threads, file, report)
        return Sweep([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()], picture)


def _seeds(seeds: range | int | tuple[int, int]) -> tuple[int, int]:
    if isinstance(seeds, range):
        if seeds.step != 1:
            raise ValueError(f"seeds={seeds}: a sweep has a range without gaps")
        first, end = seeds.start, seeds.stop
    elif isinstance(seeds, tuple):
        first, end = seeds
    else:
        first, end = 0, int(seeds)
    if first < 0 or end < 0:
        raise ValueError(f"seeds={seeds}: the smallest seed is 0")
    return first, end


def _toml(value: Any) -> str:
    """A value as TOML; JSON is the same for numbers, strings, truth values and lists of them."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_toml(own)}" for key, own in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(own) for own in value) + "]"
    text = to_json({"": value})
    return text[len('{"": ') : -1]


def _table(config: Mapping[str, Any]) -> str:
    return "".join(f"{json.dumps(str(key))} = {_toml(value)}\n" for key, value in config.items())


def _changes(sections: Mapping[str, Any]) -> list[str]:
    changes: list[str] = []
    for section, value in sections.items():
        if isinstance(value, Mapping):
            changes.extend(f"{section}.{key}={_toml(own)}" for key, own in value.items())
        else:
            changes.append(f"{section}={_toml(value)}")
    return changes


class Sweep:
    """The results of many runs.

    Attributes:
        rows: A dict per run, as `headlight sweep` writes them.
        svg: Pictures: how the runs' figures are distributed, and how they learned.
    """

    def __init__(self, rows: list[dict[str, Any]], svg: str) -> None:
        self.rows = rows
        self.svg = svg

    @property
    def table(self) -> Any:
        """A data frame with a row per run, in the order of the seeds; some columns hold lists."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        return frame({name: _column([row.get(name) for row in self.rows]) for name in names})

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        learned = sum(row.get("learned_at_step") is not None for row in self.rows)
        return f"<headlight.Sweep: {len(self.rows)} runs, {learned} learned>"

    def _repr_html_(self) -> str:
        return self.svg

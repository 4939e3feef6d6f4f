"""The seeds of a sweep, and its grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from ._values import values_json


def seeds_of(seeds: range | int | tuple[int, int]) -> tuple[int, int]:
    if isinstance(seeds, range):
        if seeds.step != 1:
            raise ValueError(f"seeds={seeds}: the step of the range must be 1")
        first, end = seeds.start, seeds.stop
    elif isinstance(seeds, tuple) and len(seeds) == 2 and all(isinstance(seed, Integral) for seed in seeds):
        first, end = int(seeds[0]), int(seeds[1])
    elif isinstance(seeds, Integral):
        first, end = 0, int(seeds)
    else:
        raise TypeError(f"seeds={seeds!r:.100}: give a range, a number of seeds, or a pair of the first seed and the end")
    if first < 0 or end < 0:
        raise ValueError(f"seeds={seeds}: the smallest seed is 0")
    if end <= first:
        raise ValueError(f"seeds={seeds}: at least one seed is needed")
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

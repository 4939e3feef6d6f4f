"""Values of configs, as Python has them and as JSON has them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, Union

Source = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""A config: the name of a built-in one, a path of a TOML file, or a dict."""


def _plain(value: Any, place: str) -> Any:
    """A value of a config as JSON has it: numbers of NumPy as numbers, tuples and ranges as lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(own, f"{place}.{key}" if place else str(key)) for key, own in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return [_plain(own, place) for own in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{place}={value}: a finite number is needed")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{place}={value}: the number is too large; it must be below 2**63")
    if isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{place}={value!r:.100}: a config cannot hold a value of the type {type(value).__name__}")


def values_json(key: str, values: Iterable[Any]) -> list[Any]:
    """The values that a grid has for a key, as JSON has them."""
    return [_plain(value, key) for value in values]


def sections_json(sections: Mapping[str, Any]) -> str:
    """Sections of a config as JSON.

    Raises:
        TypeError: A section holds what a config cannot hold.
        ValueError: A number is not finite, or too large.
    """
    return json.dumps(_plain(sections, ""))


def changes_of(seed: int | None, sections: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of `train` and `sweep` as changes to a config, by section."""
    changes = dict(sections)
    if seed is not None:
        changes["seed"] = seed
    return changes


def name_of(source: Source) -> str:
    if isinstance(source, Mapping):
        return "config"
    return os.path.splitext(os.path.basename(os.fspath(source)))[0] or "config"

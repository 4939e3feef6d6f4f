"""Configs: names, paths or dicts, with changes as keyword arguments."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Union

from . import _headlight

Source = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def configs() -> list[str]:
    """The names of the built-in configs."""
    return _headlight.built_in_configs()


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers of NumPy as numbers, tuples as lists."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, range):
        return list(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a config cannot hold {value!r}, a {type(value).__name__}")


def to_json(value: Any) -> str:
    return json.dumps(value, default=_plain, allow_nan=False)


def changes_of(seed: int | None, sections: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of `train` and `sweep` as changes of a config, by section."""
    changes = dict(sections)
    if seed is not None:
        changes["seed"] = seed
    return changes


def name_of(source: Source) -> str:
    if isinstance(source, Mapping):
        return "config"
    path = os.fspath(source)
    name = os.path.splitext(os.path.basename(path))[0]
    return name or "config"


def resolve(source: Source, changes: Mapping[str, Any]) -> _headlight.Config:
    """A config, complete and checked.

    Raises:
        ValueError: It is invalid; the message says where.
    """
    if isinstance(source, Mapping):
        return _headlight.Config(to_json(source), True, to_json(changes))
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"a config is a name, a path or a dict, not a {type(source).__name__}")
    return _headlight.Config(os.fspath(source), False, to_json(changes))

"""Configs: names, paths or dicts, with changes as keyword arguments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _headlight
from ._values import Source, sections_json


def configs() -> list[str]:
    """The names of the built-in configs."""
    return _headlight.built_in_configs()


def with_file(config: _headlight.Config, file: os.PathLike[str]) -> _headlight.Config:
    """A config with another dataset file."""
    return _headlight.Config(config.json(), True, sections_json({"data": {"file": file}}))


def resolve(source: Source, changes: Mapping[str, Any]) -> _headlight.Config:
    """A config, complete and checked.

    Raises:
        ValueError: It is invalid; the message says where.
    """
    if isinstance(source, Mapping):
        return _headlight.Config(sections_json(source), True, sections_json(changes))
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"a config must be a name, a path or a dict, not a {type(source).__name__}")
    return _headlight.Config(os.fspath(source), False, sections_json(changes))

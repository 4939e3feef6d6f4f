"""Data frames of whatever library is there."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def frame(columns: Mapping[str, Any]) -> Any:
    """Columns as a data frame: of pandas or polars, whichever is imported already or installed; else a dict of arrays."""
    libraries = ["pandas", "polars"]
    for library in sorted(libraries, key=lambda name: name not in sys.modules):
        if find_spec(library) is not None:
            return import_module(library).DataFrame(dict(columns))
    return dict(columns)

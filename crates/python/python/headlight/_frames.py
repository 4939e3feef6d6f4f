"""Data frames of pandas or polars."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ._arrays import column


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as a data frame: of pandas or polars, whichever is imported already or installed; else as `Columns`.

    The metrics of test sets are columns of their own, such as `tests.longer.f1`.
    """
    rows = [_flat(row) for row in rows]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: column([row.get(name) for row in rows]) for name in names}
    for library in sorted(["pandas", "polars"], key=lambda name: name not in sys.modules):
        if find_spec(library) is not None:
            return import_module(library).DataFrame(columns)
    return Columns(columns)


class Columns(dict[str, Any]):
    """A dict with an array per column, in place of a data frame."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"this is a dict of columns, which has no `{name}`, because neither pandas nor polars is installed: pip install pandas"
        )


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    tests = row.get("tests", {})
    metrics = {f"tests.{name}.{key}": value for name, own in tests.items() for key, value in own.items()}
    return {**{key: value for key, value in row.items() if key != "tests"}, **metrics}

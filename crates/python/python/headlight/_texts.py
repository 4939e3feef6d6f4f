"""Texts: lists, arrays, and columns of data frames."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np


def is_missing(value: Any) -> bool:
    """Whether it stands for no value in a data frame: None, NaN, NA of pandas, or masked."""
    is_nan = isinstance(value, (float, np.floating)) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant")


def check_labels(labels: Any, what: str) -> None:
    """Checks that no label is missing; `what` is what a label belongs to. Warns if a number and a text become one class.

    Raises:
        ValueError: A label is missing; the message has the number of its row.
    """
    for number, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(f"the label of {what} {number} is missing (it is {label!r}; the first is {what} 0); remove the row")
    warn_if_mixed(labels, "class")


def warn_if_mixed(values: Any, what: str) -> None:
    """Warns of a text that reads as a number beside it does: the two become one `what`."""
    texts = {value for value in values if isinstance(value, str)}
    if not texts:
        return
    others = {_number(value): value for value in values if not isinstance(value, str)}
    for text in sorted(texts & others.keys()):
        warnings.warn(f"{text!r} and {others[text]!r} become one {what}; if they are two, give them other names", stacklevel=4)
        return


def _number(value: Any) -> str:
    """A value as files have it: 3.0 is 3."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def texts(values: Any) -> list[str] | None:
    """The texts of a list, an array, or a column of pandas or polars; None if it holds something else.

    Raises:
        ValueError: A text is missing.
        TypeError: Some of the values are texts, and some are not.
    """
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Sequence) and not hasattr(values, "shape"):
        return None
    # The rows of a data frame are not texts.
    if len(getattr(values, "shape", " ")) != 1:
        return None
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufc":
        return None
    rows = list(values)
    first = next((row for row in rows if not is_missing(row)), None)
    return checked(rows) if isinstance(first, str) else None


def checked(rows: list[Any]) -> list[str]:
    """These values, each of which must be a text.

    Raises:
        ValueError: A text is missing.
        TypeError: A value is not a text.
    """
    for number, row in enumerate(rows):
        if is_missing(row):
            raise ValueError(f'text {number} is missing (it is {row!r}; the first is text 0); remove the row, or make it an empty text ""')
        if not isinstance(row, str):
            raise TypeError(f"text {number} is {row!r:.100}, not a text")
    return [str(row) for row in rows]

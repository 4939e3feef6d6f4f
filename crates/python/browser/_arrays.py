"""Arrays: those of NumPy where it is there, or else views with its indexing."""

from __future__ import annotations

from array import array as buffer
from collections.abc import Iterator, Sequence
from math import isfinite, prod
from numbers import Real
from types import EllipsisType
from typing import Any, Union

Values = Union["memoryview[Any]", "buffer[Any]"]
"""Numbers in one axis, one after the other."""


def numpy() -> Any:
    """NumPy, or None if it cannot be imported. It is not imported with this package: Pyodide loads it only if asked."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def arranged(values: Values, shape: Sequence[int]) -> Any:
    """Numbers as an array with a shape: a new one of NumPy, or else a view."""
    library = numpy()
    if library is None:
        return Array(memoryview(values).toreadonly(), tuple(shape))
    return library.array(memoryview(values)).reshape(shape)


def column(values: list[Any]) -> Any:
    """The column of a table. Numbers are an array of NumPy if it is there, unmeasured ones NaN; anything else is as it is."""
    if not all(value is None or isinstance(value, (int, float)) for value in values):
        return values
    if any(value is None or isinstance(value, float) for value in values):
        values = [float("nan") if value is None else float(value) for value in values]
    library = numpy()
    return values if library is None else library.array(values)


def listed(values: Any) -> Any:
    """An array of any kind as a list, or a sequence as it is."""
    return values.tolist() if hasattr(values, "tolist") else values


def numbers(values: Any, name: str) -> tuple[list[float], tuple[int, ...]]:
    """Numbers as float32, one after the other, and their shape, which has one axis or two.

    Raises:
        TypeError: It holds something else than numbers.
        ValueError: Its rows have different lengths, or a number is not finite in float32.
    """
    rows = listed(values)
    if not isinstance(rows, (list, tuple)):
        raise TypeError(f"{name}: a list or an array of numbers is needed, not {values!r:.100}")
    rows = [listed(row) for row in rows]
    shape: tuple[int, ...] = (len(rows),)
    if rows and all(isinstance(row, (list, tuple)) for row in rows):
        if len({len(row) for row in rows}) > 1:
            raise ValueError(f"{name}: the rows have different lengths")
        shape = (len(rows), len(rows[0]))
        rows = [number for row in rows for number in row]
    for number in rows:
        if not isinstance(number, Real):
            raise ValueError(f"{name}: numbers are needed, not {number!r:.100}")
    try:
        kept = buffer("f", rows)
    except OverflowError:
        kept = buffer("f", [float("inf")])
    if not all(map(isfinite, kept)):
        invalid = next((number for number in rows if not isfinite(number)), max(rows, key=abs, default=0))
        raise ValueError(f"{name}: numbers that are finite in float32 are needed, not {invalid}")
    return kept.tolist(), shape


class Array:
    """Numbers with several axes, which cannot be changed: what NumPy's arrays are where there is no NumPy.

        weights[0, 0, 0]            # a view of the last two axes
        weights[..., 3].tolist()    # lists
    """

    def __init__(self, values: memoryview[Any], shape: tuple[int, ...], strides: tuple[int, ...] | None = None, start: int = 0) -> None:
        self._values = values
        self._start = start
        self.shape = shape
        self._strides = strides if strides is not None else tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: int | slice | EllipsisType | tuple[int | slice | EllipsisType, ...]) -> Any:
        """A number, or a view: each axis takes an index or a slice, `...` stands for all that are not named.

        Raises:
            IndexError: There is no such place.
        """
        places = list(place) if isinstance(place, tuple) else [place]
        if places.count(...) > 1 or len([own for own in places if own is not ...]) > self.ndim:
            raise IndexError(f"the array has {self.ndim} axes, and {place!r} names others")
        at = places.index(...) if ... in places else len(places)
        missing = self.ndim - len([own for own in places if own is not ...])
        places[at : at + 1] = [slice(None)] * missing
        start, shape, strides = self._start, [], []
        for axis, (own, extent, stride) in enumerate(zip(places, self.shape, self._strides, strict=True)):
            if isinstance(own, slice):
                chosen = range(extent)[own]
                start += chosen.start * stride
                shape.append(len(chosen))
                strides.append(chosen.step * stride)
                continue
            try:
                start += range(extent)[own] * stride  # type: ignore[index]
            except IndexError:
                raise IndexError(f"index {own} is out of range: axis {axis} has {extent}") from None
            except TypeError:
                raise TypeError(f"{own!r:.100} is neither a whole number nor a slice; load NumPy for other ways to index") from None
        if not shape:
            return self._values[start]
        return Array(self._values, tuple(shape), tuple(strides), start)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def tolist(self) -> list[Any]:
        """The numbers as lists within lists, one for each axis."""
        return [own.tolist() if isinstance(own, Array) else own for own in self]

    def __eq__(self, other: object) -> bool:
        return self.tolist() == other.tolist() if isinstance(other, Array) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = _rows(self[:3].tolist() if self.size > 200 else self.tolist())
        return f"<headlight array {list(self.shape)}: {shown}{', ...' if self.size > 200 and len(self) > 3 else ''}>"


def _rows(values: Any) -> str:
    """Numbers with four decimals."""
    if isinstance(values, list):
        return f"[{', '.join(map(_rows, values))}]"
    return f"{values:.4f}" if isinstance(values, float) else str(values)

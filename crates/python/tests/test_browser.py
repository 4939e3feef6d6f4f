"""Arrays of the browser's package without NumPy: their indexing is NumPy's."""

from __future__ import annotations

import importlib.util
from array import array as buffer
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

SHAPE = (2, 3, 4)
PLACES = st.integers(-5, 5) | st.slices(4) | st.just(...)


def browser() -> ModuleType:
    """The file alone: its package needs a browser."""
    spec = importlib.util.spec_from_file_location("browser_arrays", Path(__file__).parents[1] / "browser/_arrays.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ARRAYS = browser()
VALUES = buffer("f", [number / 7 for number in range(24)])


@given(st.lists(PLACES, max_size=4).map(tuple) | PLACES)
def test_places_are_those_of_numpy(place: object) -> None:
    own, other = ARRAYS.Array(memoryview(VALUES), SHAPE), ARRAYS.arranged(VALUES, SHAPE)
    try:
        expected = other[place]
    except IndexError:
        with pytest.raises(IndexError):
            own[place]
        return
    found = own[place]
    if isinstance(found, ARRAYS.Array):
        assert found.shape == expected.shape and found.tolist() == expected.tolist()
        assert (found.ndim, found.size, len(found)) == (expected.ndim, expected.size, len(expected))
        assert [row.tolist() if isinstance(row, ARRAYS.Array) else row for row in found] == expected.tolist()
    else:
        assert found == expected.item()


def test_arrays_are_those_of_numpy_where_it_is() -> None:
    found = ARRAYS.arranged(memoryview(VALUES), SHAPE)
    assert isinstance(found, np.ndarray) and found.dtype == np.float32 and found.flags.writeable
    assert ARRAYS.arranged(buffer("I", [1, 2]), (2,)).dtype == np.uint32
    assert ARRAYS.arranged(memoryview(bytes([1, 0])).cast("?"), (2,)).dtype == np.bool_
    assert np.isnan(ARRAYS.column([None, 1])[0]) and ARRAYS.column(["a"]) == ["a"]


@pytest.mark.parametrize("values", [[0.1, 2], np.array([0.1, 2]), np.array([0.1, 2], np.float32), ARRAYS.Array(memoryview(buffer("f", [0.1, 2])), (2,))])
def test_numbers_are_float32(values: object) -> None:
    assert ARRAYS.numbers(values, "x") == ([float(np.float32(0.1)), 2.0], (2,))


@pytest.mark.parametrize(
    ("values", "error", "sentence"),
    [
        (3, TypeError, "a list or an array"),
        (["a"], ValueError, "numbers are needed"),
        ([[1], [1, 2]], ValueError, "different lengths"),
        ([float("nan")], ValueError, "not nan"),
        ([1e300, 1], ValueError, r"not 1e\+300"),
    ],
)
def test_other_values_are_refused(values: object, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        ARRAYS.numbers(values, "x")


def test_two_axes_are_rows() -> None:
    assert ARRAYS.numbers(np.ones((2, 3)), "x") == ([1.0] * 6, (2, 3))


def test_an_array_shows_its_shape_and_cannot_be_changed() -> None:
    own = ARRAYS.Array(memoryview(VALUES).toreadonly(), SHAPE)
    assert repr(own[0, 0]) == "<headlight array [4]: [0.0000, 0.1429, 0.2857, 0.4286]>"
    assert own[0] == own[:1][0] and own[0] != own[1]
    with pytest.raises(TypeError):
        own[0, 0, 0] = 1
    with pytest.raises(TypeError, match="load NumPy"):
        own["a"]

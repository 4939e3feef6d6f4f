"""Arrays of any library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def array(values: Any, name: str) -> NDArray[Any]:
    """A NumPy, PyTorch or JAX array, or lists, as a NumPy array; copied only if necessary.

    Raises:
        TypeError: It is on a GPU, or is not an array.
        ValueError: Its rows have different lengths.
    """
    if hasattr(values, "detach"):
        # A tensor of PyTorch, which may need gradients.
        values = values.detach()
    try:
        own = hasattr(values, "__array__") or not hasattr(values, "__dlpack__")
        return np.asarray(values) if own else np.from_dlpack(values)
    except ValueError as error:
        if "inhomogeneous" in str(error):
            error = ValueError(f"{name}: the rows have different lengths")
        raise error from None
    except (BufferError, NotImplementedError, RuntimeError, TypeError) as error:
        raise TypeError(f"{name}: a {type(values).__name__} cannot be read as an array in main memory: {error}") from None


def finite(values: Any, name: str) -> NDArray[np.float32]:
    """An array of finite numbers, as float32.

    Raises:
        ValueError: A value is not a number, or is not finite in float32.
    """
    given = array(values, name)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{name}: numbers are needed, not values of the type {given.dtype}")
    with np.errstate(over="ignore"):
        numbers = given.astype(np.float32, copy=False)
    invalid = given[~np.isfinite(numbers)]
    if invalid.size:
        raise ValueError(f"{name}: numbers that are finite in float32 are needed, not {invalid[0]}")
    return numbers

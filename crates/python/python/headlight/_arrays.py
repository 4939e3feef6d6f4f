"""Arrays of any library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def array(values: Any, name: str) -> NDArray[Any]:
    """A NumPy, PyTorch or JAX array, or lists, as a NumPy array; copied only if necessary.

    Raises:
        TypeError: It is on a GPU, or is not an array.
        ValueError: Its rows have different lengths, or a value is masked.
    """
    rows = values if isinstance(values, (list, tuple)) else [values]
    if any(isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row) for row in rows):
        raise ValueError(f"{name}: some values are masked; leave these samples out, or fill the values with .filled(...)")
    if hasattr(values, "detach"):
        # A tensor of PyTorch, which may need gradients. NumPy has no bfloat16.
        values = values.detach().float() if "bfloat16" in str(values.dtype) else values.detach()
    try:
        own = hasattr(values, "__array__") or not hasattr(values, "__dlpack__")
        found = np.asarray(values) if own else np.from_dlpack(values)
        # Nullable columns of pandas are objects; JAX's bfloat16 is of no kind that NumPy knows.
        found = np.array(found.tolist()) if found.dtype.kind in "OT" else found
        return found.astype(np.float32) if found.dtype.kind == "V" and found.dtype.names is None else found
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


def finite_logits(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Logits that a prediction can be made of.

    Raises:
        ValueError: One is NaN or infinite.
    """
    invalid = np.argwhere(~np.isfinite(logits))
    if len(invalid):
        raise ValueError(f"the model's output for sample {invalid[0][0]} is not finite, so no class is the likeliest; its numbers are too large for float32")
    return logits


def numbers(values: Any, name: str) -> tuple[list[float], tuple[int, ...]]:
    """Numbers of an array as float32, one after the other, and its shape.

    Raises:
        ValueError: As `finite`.
    """
    given = finite(values, name)
    flat: list[float] = given.ravel().tolist()
    return flat, given.shape


def column(values: list[Any]) -> Any:
    """The column of a table. Numbers are an array, unmeasured ones NaN; anything else is as it is."""
    if all(value is None or isinstance(value, (int, float)) for value in values):
        if any(value is None or isinstance(value, float) for value in values):
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        return np.array(values)
    return values

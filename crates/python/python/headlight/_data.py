"""The user's own samples, from arrays or texts."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Sized
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import array
from ._changes import index
from ._folders import lasting
from ._names import is_whole
from ._texts import check_labels, checked


class datasets:
    """Writes the user's own samples as dataset files, which configs can name."""

    @staticmethod
    def from_arrays(
        tokens: ArrayLike,
        labels: ArrayLike,
        *,
        held_out_tokens: ArrayLike | None = None,
        held_out_labels: ArrayLike | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> str:
        """Writes token ids `[sample, token]` and labels `[sample]`, numbers or names, as an npz file; returns its path, for
        `hl.train(dict(data=dict(file=path), ...))`. Without `path`, the file lives as long as the process.

        Labels may also be whole numbers `[sample, token]`, -100 where none counts, for `data.task = "token-classification"`."""
        if (held_out_tokens is None) != (held_out_labels is None):
            raise ValueError("give both held_out_tokens and held_out_labels, or neither")
        arrays = {"tokens": _tokens(tokens, "tokens"), "labels": _labels(labels, "labels")}
        if held_out_tokens is not None and held_out_labels is not None:
            arrays["held_out_tokens"] = _tokens(held_out_tokens, "held_out_tokens")
            arrays["held_out_labels"] = _labels(held_out_labels, "held_out_labels")
        for split in ("", "held_out_"):
            if f"{split}tokens" in arrays:
                _paired(f"{split}tokens", arrays[f"{split}tokens"], f"{split}labels", arrays[f"{split}labels"])
        _number(arrays)
        place = _place(path, "samples.npz")
        np.savez(place, **arrays)
        return str(place)

    @staticmethod
    def from_rule(
        rule: Callable[[NDArray[np.int64]], int | str],
        *,
        vocab_size: int,
        seq_len: int,
        samples: int,
        held_out: int = 0,
        seed: int = 0,
        cls: bool = True,
        path: str | os.PathLike[str] | None = None,
    ) -> str:
        """Draws samples uniformly and labels each with `rule(tokens)`, the number or the name of its class; writes them as
        `from_arrays` does. Tokens are 1 to `vocab_size - 1`; with `cls=False`, for `data.cls = "none"`, they start from 0. No
        held-out sample is a training sample.

        Raises:
            ValueError: There are too few different samples to hold out so many.
        """
        for name, number, least in (("vocab_size", vocab_size, 2), ("seq_len", seq_len, 1), ("samples", samples, 1), ("held_out", held_out, 0)):
            if index(number, name) < least:
                raise ValueError(f"{name} is {number}; it must be {least} or more")
        random = np.random.default_rng(seed)
        first = int(cls)
        train = random.integers(first, vocab_size, (samples, seq_len))
        known = {row.tobytes() for row in train}
        others: list[NDArray[np.int64]] = []
        for _ in range(100 * held_out):
            if len(others) == held_out:
                break
            row = random.integers(first, vocab_size, seq_len)
            if row.tobytes() not in known:
                others.append(row)
        if len(others) < held_out:
            raise ValueError(
                f"cannot find {held_out} samples that differ from the {samples} for training; raise vocab_size or seq_len, or ask for fewer"
            )
        return datasets.from_arrays(
            train,
            [rule(row) for row in train],
            held_out_tokens=np.array(others) if others else None,
            held_out_labels=[rule(row) for row in others] if others else None,
            path=path,
        )

    @staticmethod
    def from_texts(texts: Iterable[Any], labels: Iterable[Any], *, path: str | os.PathLike[str] | None = None) -> str:
        """Writes texts and labels, lists or columns of pandas or polars, as a CSV file; returns its path.

        Raises:
            ValueError: A text or a label is missing; the message has the number of its row.
        """
        if isinstance(texts, str):
            raise TypeError("texts must be a list of texts, not one text")
        texts, labels = list(texts), list(labels)
        _paired("texts", texts, "labels", labels)
        rows = checked(texts)
        check_labels(labels, "text")
        table = io.StringIO(newline="")
        writer = csv.writer(table)
        writer.writerow(["text", "label"])
        writer.writerows(zip(rows, labels))
        place = _place(path, "texts.csv")
        place.write_bytes(table.getvalue().encode())
        return str(place)


def _place(path: str | os.PathLike[str] | None, name: str) -> Path:
    """Where to write: to `path`, which needs the ending of `name`, or under that name for as long as the process lives."""
    place = Path(path) if path is not None else lasting() / name
    if place.suffix != Path(name).suffix:
        raise ValueError(f"{place}: the name of the file must end with {Path(name).suffix}")
    return place


def _paired(name: str, samples: Sized, other: str, labels: Sized) -> None:
    if len(samples) != len(labels):
        raise ValueError(f"each sample needs one label, but {name} has {len(samples)} samples and {other} has {len(labels)} labels")


def _labels(labels: ArrayLike, name: str) -> Any:
    # NumPy would make names, or NaN, of missing labels.
    are_each = isinstance(labels, (list, tuple)) and len(labels) > 0 and np.ndim(labels[0]) == 1
    are_whole = isinstance(labels, np.ndarray) and labels.dtype.kind in "biuU"
    if hasattr(labels, "__iter__") and not are_each and not are_whole:
        check_labels(labels, "held-out sample" if name.startswith("held") else "sample")
    given = array(labels, name)
    if given.ndim == 2 and given.dtype.kind in "iu":
        return _stored(given, "label")
    if given.dtype.kind not in "biufU" or given.ndim != 1:
        raise TypeError(
            f"{name} must be numbers or names of classes [sample], or whole numbers [sample, token]; these have the type {given.dtype} and the shape {given.shape}"
        )
    return _stored(given, "label")


def _stored(given: NDArray[Any], what: str) -> NDArray[Any]:
    """Numbers of any type and order in memory as a dataset file has them."""
    if given.dtype.kind == "u" and given.size and given.max() >= 2**63:
        raise ValueError(f"{what} {given.max()} is too large; it must be below 2**63")
    types: dict[str, Any] = {"i": np.int64, "u": np.int64, "f": np.float64}
    return np.ascontiguousarray(given, dtype=types.get(given.dtype.kind))


def _number(arrays: dict[str, Any]) -> None:
    """Replaces the names of classes with numbers, and adds the names to the file as `classes`."""
    given = [name for name in ("labels", "held_out_labels") if name in arrays]
    kinds = {arrays[name].dtype.kind == "U" for name in given}
    if kinds == {False}:
        return
    if kinds != {True}:
        raise TypeError("labels and held_out_labels must both be names, or both numbers")
    names, numbers = np.unique(np.concatenate([arrays[name] for name in given]), return_inverse=True)
    # As in other files, 2 comes before 10.
    order = np.argsort([int(name) for name in names]) if all(map(is_whole, names)) else np.arange(len(names))
    arrays["classes"] = names[order]
    ends = np.cumsum([len(arrays[name]) for name in given])
    for name, own in zip(given, np.split(np.argsort(order)[numbers], ends)):
        arrays[name] = own


def _tokens(tokens: ArrayLike, name: str) -> Any:
    given = array(tokens, name)
    if not given.size:
        raise ValueError(f"{name} are empty; give at least one sample [sample, token]")
    if given.dtype.kind not in "iu" or given.ndim != 2:
        raise TypeError(
            f"{name} must be whole numbers [sample, token]; these have the type {given.dtype} and the shape {given.shape}"
        )
    return _stored(given, "token")

"""Samples of the user's own, from arrays."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._folders import lasting


class datasets:
    """Samples of the user's own as dataset files, which configs name."""

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
        `hl.train(dict(data=dict(file=path), ...))`. Without `path`, the file lives as long as the process."""
        arrays = {"tokens": _tokens(tokens), "labels": _labels(labels)}
        if (held_out_tokens is None) != (held_out_labels is None):
            raise ValueError("held_out_tokens and held_out_labels belong together")
        if held_out_tokens is not None and held_out_labels is not None:
            arrays["held_out_tokens"] = _tokens(held_out_tokens)
            arrays["held_out_labels"] = _labels(held_out_labels)
        for split in ("", "held_out_"):
            if f"{split}tokens" in arrays and len(arrays[f"{split}tokens"]) != len(arrays[f"{split}labels"]):
                raise ValueError(
                    f"{len(arrays[f'{split}tokens'])} samples have {len(arrays[f'{split}labels'])} labels"
                )
        _number(arrays)
        place = Path(path) if path is not None else lasting() / "samples.npz"
        if place.suffix != ".npz":
            raise ValueError(f"{place}: the file is an npz file; end its name with .npz")
        np.savez(place, **arrays)
        return str(place)

    @staticmethod
    def from_texts(texts: Sequence[str], labels: Sequence[Any], *, path: str | os.PathLike[str] | None = None) -> str:
        """Writes texts and labels as a CSV file; returns its path."""
        if len(texts) != len(labels):
            raise ValueError(f"{len(texts)} texts have {len(labels)} labels")
        place = Path(path) if path is not None else lasting() / "texts.csv"
        with place.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "label"])
            writer.writerows(zip(texts, labels))
        return str(place)


def _labels(labels: ArrayLike) -> Any:
    array = np.asarray(labels)
    if array.dtype == object and all(isinstance(name, str) for name in array.ravel()):
        array = array.astype(str)
    if array.dtype.kind not in "biufU" or array.ndim != 1:
        raise TypeError(
            f"labels are numbers or names of classes [sample]; these have the type {array.dtype} and the shape {array.shape}"
        )
    return array


def _number(arrays: dict[str, Any]) -> None:
    """Numbers in place of the names of classes, which the file then has beside them."""
    given = [name for name in ("labels", "held_out_labels") if name in arrays]
    kinds = {arrays[name].dtype.kind == "U" for name in given}
    if kinds == {False}:
        return
    if kinds != {True}:
        raise TypeError("labels and held_out_labels are both names, or both numbers")
    arrays["classes"] = np.unique(np.concatenate([arrays[name] for name in given]))
    for name in given:
        arrays[name] = np.searchsorted(arrays["classes"], arrays[name])


def _tokens(tokens: ArrayLike) -> Any:
    array = np.asarray(tokens)
    if array.dtype.kind not in "iu" or array.ndim != 2:
        raise TypeError(
            f"tokens are whole numbers [sample, token]; these have the type {array.dtype} and the shape {array.shape}"
        )
    return array

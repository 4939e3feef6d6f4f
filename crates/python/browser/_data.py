"""The user's own samples, from arrays or texts."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterable
from numbers import Integral
from pathlib import Path
from typing import Any

from ._arrays import listed
from ._engine import WORDS, shared
from ._lacking import absent, lacking


class datasets:
    """Writes the user's own samples as dataset files, which configs can name."""

    from_rule = staticmethod(absent("datasets.from_rule"))

    @staticmethod
    def from_arrays(
        tokens: Any, labels: Any, *, held_out_tokens: Any = None, held_out_labels: Any = None, path: str | os.PathLike[str] | None = None
    ) -> str:
        """Writes token ids `[sample, token]` and labels `[sample]`, numbers or names, as a file that only the browser's module
        reads; returns its path, for `hl.train(dict(data=dict(file=path), ...))`.

        Raises:
            TypeError: A token is not a whole number.
            ValueError: A sample has no label, or there are no samples.
        """
        if (held_out_tokens is None) != (held_out_labels is None):
            raise ValueError("give both held_out_tokens and held_out_labels, or neither")
        rows, names = _tokens(tokens), _labels(labels)
        others = [] if held_out_tokens is None else _tokens(held_out_tokens)
        other_names = [] if held_out_labels is None else _labels(held_out_labels)
        _paired("tokens", rows, "labels", names)
        _paired("held_out_tokens", others, "held_out_labels", other_names)
        samples: dict[str, Any] = {"tokens": rows + others, "labels": names + other_names}
        if others:
            samples["splits"] = ["train"] * len(rows) + ["test"] * len(others)
        place = _place(path, "samples.json")
        place.write_text(json.dumps(samples), encoding="utf-8")
        return str(place)

    @staticmethod
    def from_texts(texts: Iterable[Any], labels: Iterable[Any], *, path: str | os.PathLike[str] | None = None) -> str:
        """Writes texts and labels, lists or columns of data frames, as a CSV file; returns its path.

        Raises:
            TypeError: A text is missing.
            ValueError: A text has no label.
        """
        if isinstance(texts, str):
            raise TypeError("texts must be a list of texts, not one text")
        rows, names = list(texts), list(labels)
        _paired("texts", rows, "labels", names)
        for number, row in enumerate(rows):
            if not isinstance(row, str):
                raise TypeError(f"text {number} is {row!r:.100}, not a text")
        place = _place(path, "texts.csv")
        with place.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["text", "label"], *zip(rows, names, strict=True)])
        return str(place)


def read(keys: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A config whose samples come from a file, with what the file decides; the samples as the engine takes them; and as the page
    holds them.

    Raises:
        NotInTheBrowser: The file is none of those that `datasets` writes.
        OSError: It cannot be read.
    """
    path = Path(keys["data"]["file"])
    if path.suffix == ".json":
        return _of_tokens(keys, json.loads(path.read_text(encoding="utf-8")))
    if path.suffix == ".csv":
        return _of_texts(keys, path.name, path.read_bytes().decode("utf-8"))
    raise lacking(f"reader of {path.name}: take hl.datasets.from_arrays or hl.datasets.from_texts, or a CSV file of texts and labels")


def _of_tokens(keys: dict[str, Any], samples: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    rows, labels = samples["tokens"], samples["labels"]
    decided: dict[str, Any] = {"vocab_size": max(map(max, rows)) + 1, "seq_len": max(map(len, rows))}
    names = sorted({label for label in labels if isinstance(label, str)})
    if names:
        decided |= {"classes": names, "n_classes": max(2, len(names))}
    else:
        decided["n_classes"] = max(2, max(labels) + 1)
    return {**keys, "data": {**decided, **keys["data"]}}, samples, samples | ({"classes": names} if names else {})


def _of_texts(keys: dict[str, Any], name: str, table: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    others = keys["data"].keys() - {"file"}
    if others:
        raise lacking(f"`data.{min(others)}` for a file of texts: it trains on words, and holds out a fifth of the texts")
    told, _ = shared(WORDS).ask({"operation": "texts", "samples": {"table": table}, "name": name})
    model = keys.get("model", {})
    attention = {"padding_token": told["padding_token"], **model.get("attention", {})}
    changed = {**keys, "data": {**told["data"], "file": name}, "model": {**model, "attention": attention}}
    about = {part: told[part] for part in ("choice", "train", "held_out", "notes")}
    return changed, {"table": table}, {"table": table, "count": sum(told["train"]), "told": about}


def _place(path: str | os.PathLike[str] | None, name: str) -> Path:
    """Where to write: to `path`, which needs the ending of `name`, or into a new folder."""
    place = Path(path) if path is not None else Path(tempfile.mkdtemp(prefix="headlight-")) / name
    if place.suffix != Path(name).suffix:
        raise ValueError(f"{place}: the name of the file must end with {Path(name).suffix}")
    return place


def _paired(name: str, samples: list[Any], other: str, labels: list[Any]) -> None:
    if len(samples) != len(labels):
        raise ValueError(f"each sample needs one label, but {name} has {len(samples)} samples and {other} has {len(labels)} labels")


def _tokens(tokens: Any) -> list[list[int]]:
    rows = [listed(row) for row in listed(tokens)]
    if not rows or not all(isinstance(row, (list, tuple)) and row for row in rows):
        raise ValueError("tokens must be whole numbers [sample, token], with at least one sample")
    for token in (token for row in rows for token in row):
        if isinstance(token, bool) or not isinstance(token, Integral):
            raise TypeError(f"tokens must be whole numbers [sample, token], not {token!r:.100}")
    return [[int(token) for token in row] for row in rows]


def _labels(labels: Any) -> list[int | str]:
    names = [listed(label) for label in listed(labels)]
    if not all(isinstance(label, (str, Integral)) for label in names) or len({isinstance(label, str) for label in names}) > 1:
        raise TypeError("labels must be numbers of classes [sample], or names of classes [sample]")
    return [label if isinstance(label, str) else int(label) for label in names]

"""Which vectors carry an answer: activation patching at every block and position."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import finite_logits
from ._changes import index
from ._circuits import one_answer
from ._model import Output
from ._page import Page, document


def trace(clean: Output, corrupted: Output, *, heads: bool = False, logit: int = 0) -> Trace:
    """Traces where a model carries what makes `clean` differ from `corrupted`: at each block and position, one vector of the
    corrupted samples is replaced by that of the clean ones, and the model computes the rest (activation patching).

    Args:
        clean, corrupted: Outputs of one model for as many samples each; sample by sample they make pairs, such as a sentence
            and the same sentence with another word.
        heads: Replace the context of each head, instead of the input of each block (the residual stream).
        logit: Which logit to trace, if there are more than two classes.

    Raises:
        ValueError: The outputs do not suit each other, or a pair has the same logit twice.
    """
    for name, own in (("clean", clean), ("corrupted", corrupted)):
        if not isinstance(own, Output):
            raise TypeError(f"{name} must be an output, such as model(samples), not a {type(own).__name__}")
    if clean.tokens.shape != corrupted.tokens.shape:
        raise ValueError(
            f"clean has the shape {clean.tokens.shape} [sample, position], and corrupted {corrupted.tokens.shape}; they must be pairs of samples"
        )
    if len(clean) == 0:
        raise ValueError("there are no samples to trace")
    # The arrays of the outputs are the user's, who may have changed them.
    ours, theirs = (own._model.forward(own.tokens, own._changes, "all" if own is clean else "predictions") for own in (clean, corrupted))
    if heads:
        vectors = ours["context"].transpose(1, 2, 3, 0, 4)
    else:
        inputs = np.concatenate([ours["embeddings"][:, np.newaxis], ours["output"][:, :-1]], axis=1)
        vectors = inputs.transpose(1, 2, 0, 3)[:, np.newaxis]
    one_answer(clean._model)
    chosen = index(logit, "logit")
    end, start = (_logit(finite_logits(own["logits"]), chosen) for own in (ours, theirs))
    if clean._model.safetensors() != corrupted._model.safetensors():
        raise ValueError("clean and corrupted are of different models")
    same = np.flatnonzero(end == start)
    if same.size:
        raise ValueError(
            f"pair {same[0]} has the logit {end[same[0]]:.4g} for both samples, so there is nothing to trace; leave the pair out"
        )
    found = []
    for block, head, position in np.ndindex(vectors.shape[:3]):
        place = f"head.{block}.{head}" if heads else f"output.{block - 1}" if block else "embeddings"
        change = (place, [position], vectors[block, head, position].ravel().tolist())
        found.append(_logit(corrupted._model.forward(corrupted.tokens, [*corrupted._changes, change], "predictions")["logits"], chosen))
    logits = np.moveaxis(np.reshape(found, (*vectors.shape[:3], -1)), -1, 0)
    return Trace(logits if heads else logits[:, :, 0], end, start, clean.words, corrupted.words)


def _logit(logits: NDArray[np.float32], chosen: int) -> NDArray[np.float32]:
    each = logits if logits.ndim == 2 else logits[:, np.newaxis]
    if chosen >= each.shape[1]:
        count = each.shape[1]
        which = "the model has only logit 0" if count == 1 else f"logits go from 0 to {count - 1}"
        raise ValueError(f"there is no logit {chosen}; {which}")
    return each[:, chosen]


class Trace(Page):
    """How much of the clean samples' logits each vector brings back. NumPy takes it as the array `effect`.

    Attributes:
        effect: The share of the difference between the two logits that the vector restores: 0 if it changes nothing, 1 if it
            restores the clean logit. Of several pairs, what is restored in all of them by all differences, so that a pair
            counts as much as its logits differ: sum of s * (logits - corrupted) / sum of s * (clean - corrupted), where s is
            the sign of clean - corrupted. `[block, position]`, or `[block, head, position]`
        logits: The logit with each vector replaced. `[sample, block, position]`, or `[sample, block, head, position]`
        clean, corrupted: The logits without a replacement. `[sample]`
        words: The tokens of the clean samples, as in `Output.words`.
    """

    def __init__(
        self,
        logits: NDArray[np.float32],
        clean: NDArray[np.float32],
        corrupted: NDArray[np.float32],
        words: list[list[str]],
        others: list[list[str]],
    ) -> None:
        self.logits = logits
        self.clean = clean
        self.corrupted = corrupted
        self.words = words
        self._others = others
        start, end = (each.reshape(-1, *[1] * (logits.ndim - 1)).astype(np.float64) for each in (corrupted, clean))
        sign = np.sign(end - start)
        self.effect: NDArray[np.float64] = (sign * (logits - start)).sum(axis=0) / (sign * (end - start)).sum(axis=0)
        for own in (self.logits, self.clean, self.corrupted, self.effect):
            own.setflags(write=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.effect, dtype=dtype)

    def __repr__(self) -> str:
        axes = "block x position" if self.effect.ndim == 2 else "block x head x position"
        return f"<headlight.Trace: {len(self.clean)} pairs, {' x '.join(map(str, self.effect.shape))} [{axes}]>"

    def html(self) -> str:
        """The picture as an HTML file of its own."""
        return document("Trace", self._repr_html_())

    def _repr_html_(self) -> str:
        rows = self.effect.reshape(-1, self.effect.shape[-1])
        heads = self.effect.shape[1] if self.effect.ndim == 3 else 0
        names = [f"block {row // heads}, head {row % heads}" if heads else f"input of block {row}" for row in range(len(rows))]
        head = "".join(f'<th style="{_CELL}">{title}</th>' for title in self._titles())
        lines = [f"<tr><td></td>{head}</tr>"]
        for name, row in zip(names, rows):
            cells = "".join(f'<td style="{_CELL};{_colour(value)}">{value:.2f}</td>' for value in (row.round(2) + 0.0).tolist())
            lines.append(f'<tr><th style="{_CELL};text-align: right">{name}</th>{cells}</tr>')
        of = "" if len(self.clean) == 1 else f"; {len(self.clean)} pairs, each counts as much as its logits differ"
        return (
            f'<table style="border-collapse: collapse; font-size: 13px"><caption style="text-align: left">Share of the difference between '
            f"the corrupted logit (0) and the clean one (1) that the vector of the clean sample restores{of}</caption>{''.join(lines)}</table>"
        )

    def _titles(self) -> list[str]:
        """The words of a pair, the corrupted one in brackets where they differ; of several pairs the positions."""
        if len(self.words) > 1:
            return [str(position) for position in range(self.effect.shape[-1])]
        pairs = zip(self.words[0], self._others[0])
        return [escape(word) if word == other else f"{escape(word)}<br>({escape(other)})" for word, other in pairs]


_CELL = "padding: 3px 6px; text-align: center; font-weight: normal"


def _colour(value: float) -> str:
    """Blue for what restores the clean logit, red for what moves away from it."""
    strength = min(abs(value), 1.0)
    hue = "33, 102, 172" if value >= 0 else "178, 24, 43"
    text = "; color: white" if strength > 0.55 else ""
    return f"background: rgba({hue}, {strength:.2f}){text}"

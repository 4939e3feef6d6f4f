"""Attention of other models, as a page."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _headlight
from ._arrays import array
from ._page import Page, iframe

# How far from 1 a sum of weights in half precision, or in bfloat16, may be.
TOLERANCE = 4e-3

# A score from here down is that of a masked key: models add the lowest number of their type, or negative infinity.
MASKED = -1e4


def show(weights: Any, tokens: Any, *, scores: Any = None, mask: Any = None, title: str = "Attention") -> Attention:
    """A page of attention weights from anywhere: PyTorch, JAX, TransformerLens, Hugging Face.

    Args:
        weights: For one sample `[query, key]`, `[head, query, key]` or `[layer, head, query, key]`; for several samples the
            same after an axis for the samples. Or a list with an array for each layer: `[head, query, key]`, or
            `[sample, head, query, key]` as in `outputs.attentions` of Hugging Face.
        tokens: What stands at each position: a list of texts or numbers; for several samples, a list of such lists.
        scores: Attention scores (before the softmax), with the shape of `weights`. Those of masked keys are negative infinity.
        mask: Whether a query may look at a key, `[query, key]` or `[sample, query, key]`. Without it, the scores tell. Without both, only
            weights of 0 that a causal mask or padding explains are drawn as masked: all those above the diagonal, or of a whole key or query.
        title: The title of the page.

    Raises:
        ValueError: The shapes of the arrays do not match, or a weight is not between 0 and 1.
        TypeError: An array is on a GPU, or holds no numbers.
    """
    if not isinstance(title, str):
        raise TypeError(f"title={title!r:.100}: a text is needed")
    samples = _samples(tokens)
    given = _five_axes(weights, samples, "weights")
    known = None if scores is None else _five_axes(scores, samples, "scores")
    if known is not None and known.shape != given.shape:
        raise ValueError(f"the scores have the shape {known.shape}, and the weights {given.shape}")
    page = _headlight.attention_page(title, samples, given, known, _mask(given, known, mask))
    sums = given.sum(axis=-1, dtype=np.float64)
    # A query that may look at no key has no weights.
    off = np.argwhere((np.abs(sums - 1) > TOLERANCE) & (sums != 0))
    if len(off):
        sample, layer, head, query = off[0].tolist()
        warnings.warn(
            f"the weights of {len(off)} of {sums.size} queries do not sum to 1, so they may not be attention weights; the first sums to "
            f"{sums[tuple(off[0])]:.4g} (sample {sample}, layer {layer}, head {head}, query {query}, all from 0)",
            stacklevel=2,
        )
    return Attention(page, title, given.shape)


class Attention(Page):
    """A page of attention weights; a cell of a notebook shows it."""

    def __init__(self, html: str, title: str, shape: tuple[int, ...]) -> None:
        self._html = html
        self._title = title
        self._shape = shape

    def html(self) -> str:
        """The page, one HTML file that needs no network."""
        return self._html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page as a file."""
        Path(path).write_text(self._html, encoding="utf-8")

    def _repr_html_(self) -> str:
        return iframe(self._html, self._title)

    def __repr__(self) -> str:
        samples, layers, heads, positions, _ = self._shape
        return f"<headlight.Attention: {samples} samples, {layers} layers x {heads} heads, {positions} positions>"


def _samples(tokens: Any) -> list[list[str]]:
    """What stands at each position of each sample."""
    if isinstance(tokens, (str, bytes)):
        raise TypeError("tokens must be a list with a text for each position; split the text as its model does")
    if not hasattr(tokens, "__iter__"):
        raise TypeError(f"tokens must be a list with a text or number for each position, not a {type(tokens).__name__}")
    rows = array(tokens, "tokens").tolist() if hasattr(tokens, "shape") else list(tokens)
    if any(isinstance(row, str) or not isinstance(row, Sequence) for row in rows):
        rows = [rows]
    return [[str(token) for token in row] for row in rows]


def _mask(weights: NDArray[np.float32], scores: NDArray[np.float32] | None, mask: Any) -> Any:
    """Whether a query may look at a key. `[sample, query, key]`"""
    looked: Any = (weights > 0).any(axis=(1, 2))
    if mask is not None:
        allowed = array(mask, "mask")
        if allowed.dtype != np.bool_ or allowed.shape not in (looked.shape, looked.shape[1:]):
            raise ValueError(f"mask must be True or False with the axes [query, key] or [sample, query, key], not {allowed.dtype} {allowed.shape}")
        # A query of padding that may look nowhere has even weights in some libraries.
        return allowed | (looked & ~allowed.any(axis=-1, keepdims=True))
    if scores is not None:
        return looked | (scores > MASKED).any(axis=(1, 2))
    explained: Any = ~looked.any(axis=1, keepdims=True) | ~looked.any(axis=2, keepdims=True)
    above = np.triu(np.ones(looked.shape[1:], dtype=np.bool_), 1)
    if not looked[:, above].any():
        explained = explained | above
    return ~explained


def _five_axes(values: Any, samples: list[list[str]], name: str) -> NDArray[np.float32]:
    """Attention as `[sample, layer, head, query, key]`."""
    several = len(samples) > 1
    if isinstance(values, (list, tuple)) and len(values) > 0 and hasattr(values[0], "shape"):
        layers = [array(layer, f"{name} of layer {index}") for index, layer in enumerate(values)]
        if len({layer.shape for layer in layers}) > 1:
            raise ValueError(f"the layers of the {name} have different shapes: {[layer.shape for layer in layers]}")
        attention = np.stack(layers, axis=-4) if layers[0].ndim >= 3 else np.stack(layers)[:, np.newaxis]
    else:
        attention = array(values, name)
    if attention.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numbers; these have the type {attention.dtype}")
    shape = attention.shape
    if several:
        # The axes that are missing belong after that of the samples.
        while 2 < attention.ndim < 5:
            attention = attention[:, np.newaxis]
    else:
        while 1 < attention.ndim < 5:
            attention = attention[np.newaxis]
    count = len(samples[0]) if samples else 0
    if attention.ndim != 5 or attention.shape[0] != len(samples) or attention.shape[3:] != (count, count):
        raise ValueError(
            f"the {name} have the shape {shape}, but the tokens have the shape {(len(samples), count)} [sample, position]; the last "
            f"two axes of the {name} must be [query, key], {count} each; axes for sample, layer and head may come before them"
        )
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(attention, dtype=np.float32)

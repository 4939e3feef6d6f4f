"""Which words decided a prediction."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """What each word of a sample does to its prediction. `[CLS]` and padding are left out.

    Attributes:
        predicted: the predicted class: its name, or its number if classes have no names.
        probability: of this class.
        words: as they were written; of a sample without words, the tokens as text. `[word]`
        unknown: whether the vocabulary lacks a word, so that the model sees `[UNK]`. `[word]`
        positions, tokens: of the words. `[word]`
        layer, head: of the attention: the last layer, and its strongest head, in the samples that the run of the
            model's config dumps, or in this sample if they are not at hand.
        close_to_uniform: whether this attention is close to uniform.
        weights: the attention weights of `[CLS]`. `[word]`
        attention: the same in multiples of uniform attention; NaN where `[CLS]` may not look, or without a softmax. `[word]`
        probability_without: the probability of the predicted class if padding stands in place of a word. If the model has no
            padding, the place is empty: no query looks at it, and its vector is 0. `[word]`
        change: `probability_without - probability`. `[word]`
        predicted_without: the class that is predicted then. `[word]`
        integrated_gradients: what a word adds to `logit`. `[word]`
        logit: the logit of the predicted class; of two classes, its log-odds.
        baseline_logit: the same for an input of zeros.
        integrated_gradients_of_cls: what `[CLS]` adds.
        integrated_gradients_of_padding: what padding adds; None if the sample has none.
        cut: the words that the sample has no room for.
    """

    predicted: str | int
    probability: float
    words: list[str]
    unknown: NDArray[np.bool_]
    positions: NDArray[np.int64]
    tokens: NDArray[np.int64]
    layer: int
    head: int
    close_to_uniform: bool
    weights: NDArray[np.float64]
    attention: NDArray[np.float64]
    probability_without: NDArray[np.float64]
    change: NDArray[np.float64]
    predicted_without: list[str | int]
    integrated_gradients: NDArray[np.float64]
    logit: float
    baseline_logit: float
    integrated_gradients_of_cls: float
    integrated_gradients_of_padding: float | None
    cut: list[str]
    _text: str

    def __repr__(self) -> str:
        return self._text.rstrip()

    def _repr_html_(self) -> str:
        title, _, _ = self._text.partition("\n")
        cells = [
            ("attention × uniform", self.attention, "{:.2f}", 4.0),
            ("probability if removed", self.probability_without, "{:.3f}", None),
            ("change", self.change, "{:+.3f}", 0.25),
            ("integrated gradients", self.integrated_gradients, "{:+.2f}", 1.0),
        ]
        header = "".join(f'<th style="text-align:left">{name}</th>' for name in ["word", *(name for name, *_ in cells)])
        rows = []
        for index, word in enumerate(self.words):
            mark = " <small>(unknown)</small>" if self.unknown[index] else ""
            row = f'<td style="text-align:left">{html.escape(word)}{mark}</td>'
            for _, values, form, full in cells:
                value = float(values[index])
                bar = "" if full is None or np.isnan(value) else _bar(value, max(full, float(np.nanmax(np.abs(values)))))
                row += f'<td style="text-align:left;white-space:nowrap">{form.format(value)}{bar}</td>'
            rows.append(f"<tr>{row}</tr>")
        cut = f"<p>The model does not see: {html.escape(' '.join(self.cut))}</p>" if self.cut else ""
        return f"<table><caption>{html.escape(title)}</caption><tr>{header}</tr>{''.join(rows)}</table>{cut}"


def _bar(value: float, full: float) -> str:
    colour = "#31688e" if value >= 0 else "#e07b39"
    style = f"display:inline-block;margin-left:6px;height:9px;width:{80 * abs(value) / full:.0f}px;background:{colour}"
    return f'<span style="{style}"></span>'


def explanation(found: str, text: str) -> Explanation:
    """From what the core gives."""
    fields: dict[str, Any] = json.loads(found)
    words: list[dict[str, Any]] = fields.pop("words")

    def column(name: str) -> NDArray[np.float64]:
        return np.array([word[name] for word in words], dtype=np.float64)

    fields.pop("uniform")
    return Explanation(
        words=[word["word"] for word in words],
        unknown=np.array([word["unknown"] for word in words], dtype=np.bool_),
        positions=np.array([word["position"] for word in words], dtype=np.int64),
        tokens=np.array([word["token"] for word in words], dtype=np.int64),
        weights=column("weight"),
        attention=column("attention"),
        probability_without=column("probability_without"),
        change=column("change"),
        predicted_without=[word["predicted_without"] for word in words],
        integrated_gradients=column("integrated_gradients"),
        _text=text,
        **fields,
    )

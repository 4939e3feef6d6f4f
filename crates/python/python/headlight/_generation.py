"""Texts from a model of the next token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _headlight
from ._changes import index


def generated(
    model: _headlight.Model,
    prompt: str | Sequence[int],
    count: int,
    temperature: float,
    top_k: int | None,
    seed: int,
    length: int | None,
) -> list[Any]:
    """The prompt as a model continues it: texts, or lists of token ids if the model was trained on these.

    Raises:
        ValueError: The model does not answer with the next token, or the prompt does not suit it.
    """
    if not 0 <= temperature < float("inf"):
        raise ValueError(f"temperature={temperature}: it must be 0 or more")
    for name, number, least in (("count", count, 1), ("top_k", top_k, 1), ("seed", seed, 0), ("length", length, 1)):
        if number is not None and index(number, name, 2**63) < least:
            raise ValueError(f"{name}={number}: it must be {least} or more")
    tokens = model.prompt(prompt) if isinstance(prompt, str) else [_token(own) for own in prompt]
    return [own if text is None else text for text, own in model.generate(tokens, count, temperature, top_k, seed, length)]


def _token(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"prompt: {value!r:.100} is not a token id, which is a whole number")
    if not 0 <= value < 2**32:
        raise ValueError(f"prompt: {value} is not a token id; ids are from 0 to 2**32 - 1")
    return int(value)

"""Functions that training calls after each evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

# Takes a step and its evaluation, as in `metrics.jsonl`; training stops if it returns True.
Callback = Callable[[int, dict[str, Any]], "bool | None"]


def heard(callback: Callback | None) -> Callable[[int, str], bool] | None:
    """A callback as the module calls it: with a row as JSON."""
    if callback is None:
        return None
    if not callable(callback):
        raise TypeError(f"callback={callback!r:.100}: a function of a step and a dict of metrics is needed")

    def told(step: int, row: str) -> bool:
        answer = callback(step, json.loads(row))
        # NumPy has a type of its own for truth.
        if answer is None or isinstance(answer, bool) or type(answer).__name__ in ("bool", "bool_"):
            return bool(answer)
        raise TypeError(f"the callback returned {answer!r:.100}; return True to stop the training, else False or None")

    return told

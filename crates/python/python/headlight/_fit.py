"""Training in memory: `fit` writes no file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _headlight
from ._config import resolve
from ._frames import frame
from ._model import Model
from ._progress import progress as shown
from ._values import Source, changes_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keys import Sections

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


def fit(
    config: Source = "notebook",
    *,
    seed: int | None = None,
    callback: Callback | None = None,
    progress: bool | None = False,
    **sections: Unpack[Sections],
) -> Fit:
    """Trains a config in memory: the model of `train`, without a run directory, its dumps and its page.

    Args:
        config, seed, **sections: As in `train`.
        callback: As in `train`.
        progress: As in `train`, but by default no progress is shown.

    Raises:
        ValueError: The config or the samples are invalid.
        Diverged: The loss became NaN or infinite.
        KeyboardInterrupt: After Ctrl-C.
    """
    resolved = resolve(config, changes_of(seed, sections))
    with shown(progress, "step") as report:
        return Fit(*_headlight.fit(resolved, report, heard(callback)))


class Fit(Model):
    """A model that `fit` trained: that after the last step or, with `training.keep_best`, the best one.

    Attributes:
        step: The steps that the model was trained for.
        loss: The loss of each step's batch, before the step. `[step]`
    """

    step: int
    loss: NDArray[np.float32]

    def __init__(self, last: _headlight.Model, best: tuple[int, _headlight.Model] | None, rows: str, loss: NDArray[np.float32]) -> None:
        self.loss = loss
        self._rows = rows
        self.step, model = best if best is not None else (len(loss), last)
        super().__init__(model)

    @property
    def metrics(self) -> Any:
        """The evaluations as a data frame, with a row for each."""
        return frame([json.loads(row) for row in self._rows.splitlines()])

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "fit": {"step": self.step, "loss": self.loss, "_rows": self._rows}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.update(state["fit"])

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, step {self.step}>".replace(".Model", ".Fit")

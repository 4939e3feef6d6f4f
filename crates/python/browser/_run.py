"""Runs and models that are trained here."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._arrays import arranged
from ._callbacks import Callback, heard
from ._config import resolve
from ._frames import frame
from ._lacking import absent, lacking
from ._model import Model
from ._page import Page, iframe
from ._progress import progress as shown
from ._template import page_of
from ._training import Trained, trained
from ._values import Source, changes_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keys import Sections


def train(
    config: Source = "notebook",
    *,
    seed: int | None = None,
    run: str | os.PathLike[str] | None = None,
    resume: bool = False,
    force: bool = False,
    callback: Callback | None = None,
    progress: bool | None = None,
    **sections: Unpack[Sections],
) -> Run:
    """Trains a config.

    Args:
        config: The name of a built-in config (`hl.configs()`), a path of a TOML file, or a dict.
        seed: The seed, in place of the config's.
        run, resume, force: Not in the browser, which has no run directories.
        callback: A function of a step and a dict of its metrics, called after each evaluation: at the start, after each epoch,
            and every `training.evaluate_every` steps. If it returns True, training stops (at the start: after step 1). Otherwise it
            returns False or None.
        progress: Whether to show progress. By default, a notebook shows it, and a terminal if tqdm is installed.
        **sections: Changes to the config by section, such as `training=dict(epochs=3)`.

    Raises:
        ValueError: The config or the samples are invalid.
        Diverged: The loss became NaN or infinite.
        NotInTheBrowser: Only the native module can do it.
    """
    if run is not None or resume or force:
        raise lacking("run directories: leave run=, resume= and force= out")
    return Run(_trained(config, seed, callback, progress, sections))


def fit(
    config: Source = "notebook",
    *,
    seed: int | None = None,
    callback: Callback | None = None,
    progress: bool | None = False,
    **sections: Unpack[Sections],
) -> Fit:
    """Trains a config: the model of `train`.

    Args:
        config, seed, **sections: As in `train`.
        callback: As in `train`.
        progress: As in `train`, but by default no progress is shown.

    Raises:
        ValueError, Diverged, NotInTheBrowser: As `train`.
    """
    return Fit(_trained(config, seed, callback, progress, sections))


def _trained(config: Source, seed: int | None, callback: Callback | None, progress: bool | None, sections: Any) -> Trained:
    resolved = resolve(config, changes_of(seed, sections))
    told: Callable[[int, str], bool] | None = heard(callback)
    with shown(progress, "step") as report:
        return trained(resolved, report, told)


class Fit(Model):
    """A model that `fit` trained: that after the last step or, with `training.keep_best`, the best one.

    Attributes:
        step: The steps that the model was trained for.
    """

    def __init__(self, found: Trained) -> None:
        self.step = found.step if found.best is None else found.best
        self._found = found
        super().__init__(found.plan, found.model(self.step)._weights)

    @property
    def loss(self) -> Any:
        """The loss of each step's batch, before the step. `[step]`"""
        return arranged(self._found.losses, (len(self._found.losses),))

    @property
    def metrics(self) -> Any:
        """The evaluations as a data frame, with a row for each."""
        return frame(self._found.rows)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, step {self.step}>".replace(".Model", ".Fit")


class Run(Page):
    """A training in memory, with all its steps."""

    open = absent("Run.open")
    verify = absent("Run.verify")
    save = absent("Run.save")
    explain = absent("explain")
    certify = absent("Run.certify")
    report = property(absent("Run.report"))
    path = property(absent("Run.path"))

    def __init__(self, found: Trained) -> None:
        self._found = found
        self._model = Fit(found)

    @property
    def config(self) -> dict[str, Any]:
        """The resolved config."""
        return self._model.config

    @property
    def model(self) -> Fit:
        """The best model if `training.keep_best` is set, or else the last one."""
        return self._model

    @property
    def step(self) -> int:
        """The step of `model`."""
        return self._model.step

    @property
    def last_model(self) -> Model:
        """The model after the last step."""
        return self._found.model(self.steps)

    @property
    def weights_sha256(self) -> str:
        """The SHA-256 of the last model as `model.safetensors`, in hexadecimal digits."""
        digits: str = self._found.results["weights_sha256"]
        return digits

    @property
    def metrics(self) -> Any:
        """The evaluations as a data frame, with a row for each."""
        return self._model.metrics

    @property
    def loss(self) -> Any:
        """The loss of each step's batch, before the step. `[step]`"""
        return self._model.loss

    @property
    def steps(self) -> int:
        """The steps taken."""
        return self._found.step

    def at(self, step: int) -> Model:
        """The model after a step. If the run keeps only some steps, since the model is large, it is trained again."""
        if isinstance(step, bool) or not hasattr(step, "__index__"):
            raise TypeError(f"a step is a whole number, not {step!r}")
        if step < 0:
            raise ValueError(f"step {step} is negative; step 0 is the start")
        return self._found.model(int(step))

    @property
    def samples(self) -> Any:
        """The samples that a run directory would have in its dumps. `[sample, position]`"""
        return self._model.tokens(self._found.samples)

    def attention(self, step: int | None = None) -> Any:
        """The attention weights of the run's samples, by `model` or after a step.
        `[sample, layer, head, query, key]`"""
        model = self._model if step is None else self.at(step)
        return model(self._found.samples).weights

    def html(self) -> str:
        """The page of the run's experiment, one HTML file that needs no network: it trains the run again."""
        return page_of(self._found)

    def _repr_html_(self) -> str:
        return iframe(self.html(), f"The run {self._found.plan.config.name}")

    def __repr__(self) -> str:
        return f"<headlight.Run {self._found.plan.config.name!r}: seed {self.config['seed']}, {self.steps} steps>"

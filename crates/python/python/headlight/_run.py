"""Runs: `train` writes a directory, and `Run` reads it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _headlight
from ._certificate import Certificate
from ._changes import index
from ._config import resolve, with_file
from ._explanation import Explanation
from ._fit import Callback, heard
from ._folders import Folder
from ._frames import frame
from ._model import Model, Samples
from ._page import Page, iframe
from ._progress import progress as shown
from ._values import Source, changes_of, name_of

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
        run: The directory to keep the run in, with a copy of its dataset file. Without it, the run is in a temporary
            directory, which is deleted with the last reference to the run.
        resume: Resume the run in `run`, if there is one.
        force: Write dumps even if they take more than 1 GiB.
        callback: A function of a step and a dict of its metrics, called after each evaluation: at the start, after each epoch,
            and every `training.evaluate_every` steps. If it returns True, training stops and the run is complete up to there
            (at the start: after step 1); `resume=True` resumes it. Otherwise it returns False or None.
        progress: Whether to show progress. By default, a notebook shows it, and a terminal if tqdm is installed.
        **sections: Changes to the config by section, such as `training=dict(epochs=3)`.

    Raises:
        ValueError: The config or the samples are invalid.
        Diverged: The loss became NaN or infinite.
        OSError: A file cannot be written.
        KeyboardInterrupt: After Ctrl-C; with `run`, everything so far is saved, and `resume=True` resumes the run.
    """
    if resume and run is None:
        raise ValueError("resume=True needs run=, the directory of the run to resume")
    resolved = resolve(config, changes_of(seed, sections))
    kept = None
    if run is None:
        kept = Folder()
        place = kept.path / name_of(config)
    else:
        place = Path(run)
    samples = _samples_of(resolved)
    # Where training is refused, the directory may hold another run, with other samples.
    is_own = not place.exists()
    try:
        with shown(progress, "step") as report:
            _headlight.train(resolved, place, resume, force, report, heard(callback))
        is_own = True
    except _headlight.Diverged as error:
        if kept is None:
            raise
        raise _headlight.Diverged(str(error).replace(f"are in {place.stem}", "are deleted; with run=, they stay")) from None
    finally:
        # A run that was interrupted can be resumed.
        if samples is not None and is_own and place.is_dir():
            _keep(*samples, place)
    return Run(place, kept)


def _samples_of(config: _headlight.Config) -> tuple[str, bytes] | None:
    """The name that a run gives to its copy of the dataset file, and the bytes of the file."""
    file = json.loads(config.json())["data"].get("file")
    if file is None or not Path(file).is_file():
        # Training says what is wrong.
        return None
    name = Path(file).name.lower()
    ending = "".join(Path(name).suffixes[-2 if name.endswith(".gz") else -1 :])
    return f"samples{ending}", Path(file).read_bytes()


def _keep(name: str, content: bytes, place: Path) -> None:
    """Writes a file of a run, unless it is there: whole, or not at all."""
    if (place / name).exists():
        return
    part = place / f".{name}.part"
    part.write_bytes(content)
    part.replace(place / name)


class Run(Page):
    """A run directory, with the files that `headlight train` writes."""

    def __init__(self, path: str | os.PathLike[str], kept: Folder | None = None) -> None:
        # Temporary folders that live as long as the run.
        self._kept = [kept]
        self._at: dict[int, Model] = {}
        # Wherever the process goes, it stays the same folder.
        self.path = Path(path).absolute()
        # Raises an error if there is no valid run.
        model, self._step = _headlight.Model.of_run(self.path, None)
        self._model = Model(model)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Run:
        """The run in a directory.

        Raises:
            ValueError: The directory holds no run, or the run has no weights.
        """
        return cls(path)

    @property
    def _folder(self) -> Path:
        """The folder of the run.

        Raises:
            FileNotFoundError: It is gone.
        """
        if not self.path.is_dir():
            raise FileNotFoundError(f"{self.path}: the folder of this run is gone; train the run again, or open a copy with hl.Run.open")
        return self.path

    @property
    def config(self) -> dict[str, Any]:
        """The resolved config."""
        return self._model.config

    @property
    def model(self) -> Model:
        """The best model if `training.keep_best` is set, or else the last one."""
        return self._model

    @property
    def step(self) -> int | None:
        """The step of `model`, if it is known."""
        return self._step

    @property
    def last_model(self) -> Model:
        """The model after the last step."""
        return Model.open(self.path, str(self._folder / "model.safetensors"))

    @property
    def weights_sha256(self) -> str:
        """The SHA-256 of `model.safetensors`, in hexadecimal digits."""
        return hashlib.sha256((self._folder / "model.safetensors").read_bytes()).hexdigest()

    @property
    def metrics(self) -> Any:
        """The evaluations as a data frame, with a row for each."""
        lines = (self._folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        return frame([json.loads(line) for line in lines])

    @property
    def loss(self) -> NDArray[np.float32]:
        """The loss of each step's batch, before the step. `[step]`"""
        loss: NDArray[np.float32] = np.load(self._folder / "loss.npy")
        return loss

    @property
    def steps(self) -> int:
        """The steps taken."""
        return len(self.loss)

    @property
    def report(self) -> str:
        """The report as Markdown."""
        return (self._folder / "report.md").read_text(encoding="utf-8")

    def at(self, step: int) -> Model:
        """The model after a step. Headlight trains it again from the config."""
        if index(step, "step") not in self._at:
            if len(self._at) >= 64:
                self._at.pop(next(iter(self._at)))
            config = self._model._model.config()
            own = next(self.path.glob("samples.*"), None)
            if own is not None:
                # The file that the config names may be gone, or hold other samples.
                config = with_file(config, own)
            self._at[int(step)] = Model(_headlight.at_step(config, int(step)))
        return self._at[int(step)]

    @property
    def samples(self) -> NDArray[np.uint32]:
        """The samples of the run's dumps. `[sample, position]`"""
        dumps = sorted((self._folder / "attention").glob("step-*.npz"))
        if not dumps:
            raise ValueError("the run has no npz dumps; give samples to run.model instead")
        with np.load(dumps[-1]) as dump:
            tokens: NDArray[np.uint32] = dump["tokens"].astype(np.uint32)
        return tokens

    def attention(self, step: int | None = None) -> NDArray[np.float32]:
        """The attention weights of the run's dumped samples, by `model` or after a step.
        `[sample, layer, head, query, key]`"""
        model = self._model if step is None else self.at(step)
        return model(self.samples).weights

    def explain(self, sample: Samples) -> Explanation:
        """Which words decided what `model` predicts for a text or a sample of tokens; see `Model.explain`."""
        return self.model.explain(sample)

    def certify(self, examples: int = 10, progress: bool | None = None) -> Certificate:
        """How `model` answers all possible inputs; see `Model.certify`."""
        return self.model.certify(examples, progress)

    def verify(self) -> dict[str, str]:
        """The files that were changed or removed after the run ended, and what is wrong with each."""
        return dict(_headlight.verify(self._folder))

    def html(self) -> str:
        """The page of the run, one HTML file that needs no network."""
        return _headlight.page(self._folder)

    def save(self, path: str | os.PathLike[str]) -> Run:
        """Copies the run into a new directory, and returns the run there."""
        shutil.copytree(self._folder, path)
        return Run(path)

    def _repr_html_(self) -> str:
        return iframe(self.html(), f"The run {self.path.name}")

    def __repr__(self) -> str:
        steps = f"{self.steps} steps" if (self.path / "loss.npy").exists() else "removed since"
        return f"<headlight.Run {str(self.path)!r}: seed {self.config['seed']}, {steps}>"

    def __getstate__(self) -> dict[str, Any]:
        files = {
            str(file.relative_to(self.path)): file.read_bytes()
            for file in sorted(self._folder.rglob("*"))
            if file.is_file()
        }
        return {"name": self.path.name, "files": files}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = Folder()
        path = kept.path / state["name"]
        for name, content in state["files"].items():
            file = path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        Run.__init__(self, path, kept)

"""Headlight as a program: its trainings, samples and logits."""

import os
import pathlib
import subprocess
import tempfile
import time
import tomllib

import numpy as np
import safetensors.numpy

from shapes import ROOT, Shape

# Nothing is held out or dumped, and no checkpoint is saved.
QUIET = {
    "data.held_out": 0,
    "dump.positives": 0,
    "dump.negatives": 0,
    "dump.samples": "[]",
    "dump.every_epochs": 0,
    "checkpoint.every_seconds": 0,
}
FRESH_SAMPLES = 20_000  # that stand for the samples of a dataset that never repeats one


class Failed(Exception):
    """Why a program could not run."""


def flat(section: dict, prefix: str = "") -> dict:
    """Keys by their full names, such as `model.d_ff`."""
    found = {}
    for key, value in section.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return found


def run(command: list[str], cores: set[int] | None = None) -> float:
    """Runs a program on the cores, or on those of this process; returns the seconds."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or own)  # the program inherits it
    try:
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        seconds = time.perf_counter() - start
    finally:
        os.sched_setaffinity(0, own)
    if done.returncode != 0:
        raise Failed((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return seconds


class Headlight:
    """A shape in Headlight. `config`: what a run made of it; `weights`: those after a few steps."""

    def __init__(self, program: str, shape: Shape, folder: pathlib.Path):
        self.program, self.shape, self.folder = program, shape, folder
        self.train(20)
        self.config = flat(tomllib.loads((folder / "config.toml").read_text()))
        self.weights = safetensors.numpy.load_file(folder / "model.safetensors")

    def _command(self, name: str, changes: dict[str, object], *more: str | pathlib.Path) -> list[str]:
        sets = [part for key, value in (QUIET | self.shape.changes | changes).items() for part in ["--set", f"{key}={value}"]]
        return [str(part) for part in [self.program, name, self.shape.config, *sets, *more]]

    def train(self, steps: int, *more: str, cores: set[int] | None = None, changes: dict[str, object] | None = None) -> float:
        """Seconds of a training."""
        changes = (changes or {}) | {"training.steps": steps}
        if self.shape.has_epochs:
            changes["training.epochs"] = steps  # so that they do not end it earlier
        with tempfile.TemporaryDirectory(dir=self.folder) as parent:
            path = pathlib.Path(parent) / "run"
            seconds = run(self._command("train", changes, "--run", path, *more), cores)
            for name in ["model.safetensors", "config.toml"]:
                (path / name).replace(self.folder / name)
        return seconds

    def step(self, steps: int, *more: str, cores: set[int] | None = None, changes: dict[str, object] | None = None) -> float:
        """Seconds per step: a long training less a short one, divided by the steps between."""
        few = max(1, steps // 10)
        short, long = (self.train(count, *more, cores=cores, changes=changes) for count in [few, steps])
        return (long - short) / (steps - few)

    def samples(self) -> tuple[np.ndarray, np.ndarray]:
        """Tokens `[sample, position]`, and labels `[sample]` or `[sample, position]`, with -100 where none counts."""
        path = self.folder / "data.npz"
        is_fresh = self.config.get("data.samples") == "fresh"
        changes = {"data.samples": FRESH_SAMPLES} if is_fresh else {}
        run(self._command("data", changes, "--out", path))
        with np.load(path) as archive:
            tokens = archive["tokens"].astype(np.int32)
            if self.config.get("data.task") != "next-token":
                return tokens, archive["labels"].astype(np.int32)
        # After the last token of a text follows [CLS], which is 0.
        is_token = tokens != self.config.get("model.attention.padding_token", -1)
        following = np.where(is_token[:, 1:], tokens[:, 1:], 0)
        labels = np.pad(following, ((0, 0), (0, 1)))
        return tokens, np.where(is_token, labels, -100).astype(np.int32)

    def logits(self, tokens: np.ndarray) -> np.ndarray:
        """Of `weights`: those of class 1, or of each class."""
        safetensors.numpy.save_file(self.weights, self.folder / "weights.safetensors")
        np.savez(self.folder / "tokens.npz", tokens=tokens.astype(np.int64))
        given = ["--weights", self.folder / "weights.safetensors", "--samples", self.folder / "tokens.npz"]
        run(self._command("dump", {}, *given, "--out", self.folder / "out.npz", "--force"))
        with np.load(self.folder / "out.npz") as dump:
            return dump["logits"]

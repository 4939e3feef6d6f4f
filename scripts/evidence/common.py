"""The program, its runs, and files that hold what others computed."""

import json
import os
import pathlib
import subprocess
import tomllib

import numpy as np
from safetensors.numpy import load_file

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Run:
    """A run directory."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.config = tomllib.loads((path / "config.toml").read_text(encoding="utf-8"))
        self.weights = load_file(path / "model.safetensors")

    def dump(self) -> dict[str, np.ndarray]:
        """The last dump."""
        with np.load(max((self.path / "attention").glob("step-*.npz"))) as arrays:
            return dict(arrays)


class Program:
    """The binary, called in a folder of its own."""

    def __init__(self, path: pathlib.Path, folder: pathlib.Path) -> None:
        self.path, self.folder = path, folder
        self.runs: dict[tuple, Run] = {}

    def __call__(self, *arguments: object, status: int = 0) -> str:
        """What it prints; it must end with this exit code."""
        command = [str(self.path), *map(str, arguments)]
        ended = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        assert ended.returncode == status, f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def json(self, *arguments: object) -> dict:
        return json.loads(self(*arguments, "--json"))

    def train(self, config: object = "notebook", *changes: str) -> Run:
        """The run of a config, trained once in a session."""
        key = (str(config), *changes)
        if key not in self.runs:
            path = self.folder / f"run{len(self.runs)}"
            self("train", config, *sets(changes), "--quiet", "--run", path)
            self.runs[key] = Run(path)
        return self.runs[key]

    def data(self, config: object, *changes: str) -> dict[str, np.ndarray]:
        """The arrays of a config's dataset."""
        out = self.folder / "data.npz"
        self("data", config, *sets(changes), "--quiet", "--force", "--out", out)
        with np.load(out) as arrays:
            return dict(arrays)


def sets(changes: tuple[str, ...]) -> list[str]:
    return [part for change in changes for part in ("--set", change)]


def golden(path: pathlib.Path, text: str) -> str:
    """The committed text of a file, which UPDATE_GOLDEN=1 writes first."""
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")

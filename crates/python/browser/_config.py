"""Configs: names, paths or dicts, with changes as keyword arguments."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from ._data import read
from ._engine import NUMBERS, WORDS
from ._lacking import lacking
from ._values import Source, name_of, sections_json

# Usual values that the optimizer decides: those of `adam`, and those of all others.
_OF_THE_OPTIMIZER: dict[str, tuple[Any, Any]] = {"epsilon": (1e-7, 1e-8), "token_second_moment": ("per-occurrence", "per-token")}


@cache
def _known() -> dict[str, Any]:
    """What `scripts/release/browser_wheel.py` asks the program for: built-in configs, usual values, words of grammars."""
    known: dict[str, Any] = json.loads(files(__package__).joinpath("configs.json").read_text(encoding="utf-8"))
    return known


def configs() -> list[str]:
    """The names of the built-in configs."""
    return list(_known()["configs"])


@dataclass(frozen=True)
class Config:
    """A config as its author wrote it, with changes. The engine knows the values of all other keys.

    Attributes:
        name: What the page calls it.
        keys: The config, by section.
        samples: Those of its dataset file, as the engine takes them; None if a generator draws them.
        shown: The same as the page holds them.
    """

    name: str
    keys: dict[str, Any]
    samples: dict[str, Any] | None = None
    shown: dict[str, Any] | None = None

    @property
    def module(self) -> str:
        """The engine's module that the config needs."""
        data = self.keys.get("data", {})
        has_words = "words" in data or data.get("generator") == "sentences" or data.get("rule", {}).get("kind") == "sentence"
        return WORDS if has_words else NUMBERS

    def request(self, operation: str, **others: Any) -> dict[str, Any]:
        """A request about the whole experiment, its samples among it."""
        return {"operation": operation, "config": self.keys, "samples": self.samples, **others}

    def changed(self, changes: Mapping[str, Any]) -> Config:
        """With other values: keys of sections, and keys in no section."""
        keys = dict(self.keys)
        for section, value in changes.items():
            own = keys.get(section, {})
            keys[section] = {**own, **value} if isinstance(value, Mapping) and isinstance(own, Mapping) else value
        return replace(self, keys=keys)

    def without(self, section: str, *names: str) -> Config:
        """Without some keys of a section."""
        own = {key: value for key, value in self.keys.get(section, {}).items() if key not in names}
        return replace(self, keys={**self.keys, section: own})

    def resolved(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """With the usual value of each key that is left out, as run directories and pages have it.

        Args:
            inputs: What the engine says of the samples.
        """
        usual = json.loads(json.dumps(_known()["usual"]))
        keys: dict[str, Any] = {"seed": 0, **usual, **self.keys}
        for section, values in usual.items():
            own = self.keys.get(section, {})
            nested = {name: {**value, **own.get(name, {})} for name, value in values.items() if isinstance(value, dict)}
            keys[section] = {**values, **own, **nested}
        keys["compute"]["engine"] = "fused"
        data, training = keys["data"], keys["training"]
        for key, (of_adam, others) in _OF_THE_OPTIMIZER.items():
            training.setdefault(key, of_adam if training.get("optimizer", "adam") == "adam" else others)
        rule = data.get("rule", {})
        if "file" not in data:
            others = "chacha" if data.get("samples") == "fresh" else "numpy"
            data.setdefault("generator", "sentences" if rule.get("kind") == "sentence" else others)
        data.update({key: value for key, value in _known()["corpora"].get(rule.get("corpus"), {}).items() if key not in data})
        data["vocab_size"] = inputs["vocab_size"]
        data["seq_len"] = inputs["positions"] - (inputs["cls"] is not None)
        if inputs["classes"] != 2:
            data["n_classes"] = inputs["classes"]
        return keys


def resolve(source: Source, changes: Mapping[str, Any]) -> Config:
    """A config with changes. Whether it is valid, the engine says.

    Raises:
        ValueError: There is no such config, or it is not TOML.
        NotInTheBrowser: It needs another engine, or a file that the browser's module does not read.
    """
    config = _read(source).changed(json.loads(sections_json(changes)))
    compute = config.keys.get("compute", {})
    engine, device = compute.get("engine", "fused"), compute.get("device", "flex")
    if engine not in ("fused", "auto"):
        raise lacking(f"engine {engine!r}: the engine `fused` trains here, so leave compute.engine out")
    if device != "flex":
        raise lacking(f"device {device!r}: the browser's processor computes here, so leave compute.device out")
    for section, key in (("tests", None), ("report", "measures")):
        own = config.keys.get(section)
        if own and (key is None or own.get(key)):
            raise lacking(f"`{section if key is None else f'{section}.{key}'}`: it measures training and held-out samples")
    if config.keys.get("data", {}).get("file") is None:
        return config
    keys, samples, page = read(config.keys)
    return Config(config.name, keys, samples, page)


def _read(source: Source) -> Config:
    if isinstance(source, Mapping):
        return Config("config", json.loads(sections_json(source)))
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"a config must be a name, a path or a dict, not a {type(source).__name__}")
    name = os.fspath(source)
    built_in = _known()["configs"].get(name)
    if built_in is not None:
        return Config(name, built_in)
    if name in _known()["left_out"]:
        raise lacking(f"config `{name}`, which repeats a recorded run")
    if not Path(name).is_file():
        raise ValueError(f"there is no file {name}, and no built-in config of this name; there are {', '.join(configs())}")
    import tomllib

    try:
        keys = tomllib.loads(Path(name).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return Config(name_of(name), json.loads(sections_json(keys)))

"""How a model answers all possible inputs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from . import _headlight
from ._changes import index
from ._frames import frame
from ._progress import progress as shown


@dataclass(frozen=True)
class Certificate:
    """How a model answers all possible inputs: an exact count, as the fused engine answers."""

    inputs: int
    """All inputs."""
    wrong: int
    """Those that are answered wrongly."""
    share: float
    """Their share."""
    smallest_margin: float | None
    """The smallest margin of any input: the label's logit less the largest other one, or with one logit the label's log-odds."""
    computed: int
    """Inputs that the engine computed one by one, since their margins were near 0."""
    classes: list[dict[str, Any]]
    """For each label its `inputs`, the `wrong` ones, the `smallest_margin`, the `worst` inputs, and what the wrong ones have in
    `common`."""

    def worst(self) -> Any:
        """The inputs with the smallest margins of each label, as a data frame; the smallest margins come first."""
        rows = [example for label in self.classes for example in label["worst"]]
        return frame(sorted(rows, key=lambda example: example["margin"]))


@dataclass(frozen=True)
class Sampled:
    """How a model answers random inputs."""

    inputs: int
    """Inputs that were drawn."""
    wrong: int
    """Those that are answered wrongly."""
    interval: tuple[float, float]
    """The 95% interval of the share of all inputs that are answered wrongly (Wilson)."""


def certificate(model: _headlight.Model, examples: int, progress: bool | None) -> Certificate:
    """Counts the answers of a model."""
    with shown(progress, "thousandth") as report:
        return Certificate(**json.loads(_headlight.certify(model, index(examples, "examples"), None, 0, report)))


def sampled(model: _headlight.Model, count: int, seed: int, progress: bool | None) -> Sampled:
    """Asks a model about random inputs."""
    if index(count, "count", 2**64) < 1:
        raise ValueError(f"count={count}: at least one input is needed")
    with shown(progress, "thousandth") as report:
        found = json.loads(_headlight.certify(model, 0, count, index(seed, "seed", 2**64), report))
    return Sampled(found["inputs"], found["wrong"], tuple(found["interval"]))
